#!/usr/bin/env node
/**
 * Writes src/findings/mcp-schemas/definitions.ts: the official JSON Schemas of the protocol's revisions, without titles
 * and descriptions, each distinct definition once. They come from the npm package @modelcontextprotocol/conformance, in
 * the version that test/conformance/package.json names. Their source is TypeScript, which has numbers only. So any
 * number fits where the JSON Schemas say `integer`, even for the default of a number in an elicitation.
 *
 * Usage: node scripts/mcp-schemas.mjs PACKAGE/dist/index.js [--check]
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'

const revisions = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
const notes = new Set(['description', '$comment', 'title', 'default', 'format', 'examples'])

/** @param {string} source @param {number} start Index of the opening brace of an object literal. */
function literalAt(source, start) {
  let depth = 0
  let quote = ''
  for (let i = start; i < source.length; i += 1) {
    const char = source.charAt(i)
    if (quote !== '') {
      if (char === '\\') i += 1
      else if (char === quote) quote = ''
    } else if ('`"\''.includes(char)) quote = char
    else if (char === '{') depth += 1
    else if (char === '}' && (depth -= 1) === 0) return source.slice(start, i + 1)
  }
  throw new Error('the package holds half a schema')
}

/** @param {unknown} type One name or several. @returns {unknown} */
function numbers(type) {
  if (Array.isArray(type)) return type.map(numbers)
  return type === 'integer' ? 'number' : type
}

/** @param {unknown} value @param {boolean} isNames Whether the members are names, not keywords. @returns {unknown} */
function bare(value, isNames = false) {
  if (Array.isArray(value)) return value.map((part) => bare(part))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isNames || !notes.has(name))
      .map(([name, part]) => [
        name,
        name === 'type' && !isNames
          ? numbers(part)
          : bare(part, !isNames && /^(properties|definitions|\$defs)$/.test(name)),
      ]),
  )
}

const [path, mode] = process.argv.slice(2)
if (path === undefined) throw new Error('name dist/index.js of the package @modelcontextprotocol/conformance')
const source = readFileSync(path, 'utf8')
const starts = [
  ...source.matchAll(
    /\{\$schema:`https?:\/\/json-schema\.org\/draft[^`]*`,(?:definitions|\$defs):\{Annotations:/g,
  ),
]
if (starts.length !== revisions.length)
  throw new Error(`${path} holds ${starts.length} schemas of the protocol, not ${revisions.length}`)
/** @type {Map<string, number>} */
const known = new Map()
const names = starts.map(({ index }) => {
  const schema = runInNewContext(`(${literalAt(source, index)})`)
  const definitions = bare(schema.$defs ?? schema.definitions, true)
  return Object.entries(/** @type {object} */ (definitions)).map(([name, definition]) => {
    const text = JSON.stringify(definition).replaceAll('#/definitions/', '#/$defs/')
    if (!known.has(text)) known.set(text, known.size)
    return `${name}=${known.get(text)}`
  })
})
/** @param {string} text */
const quoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
const lines = [
  '// Written by scripts/mcp-schemas.mjs from @modelcontextprotocol/conformance (Apache-2.0, MIT). Do not edit.',
  '',
  '/** JSON texts of the definitions. References lead to `#/$defs/NAME` of the same revision. */',
  'export const definitions: readonly string[] = [',
  ...[...known.keys()].map((text) => `  ${quoted(text)},`),
  ']',
  '',
  '/** By revision: each definition as `NAME=INDEX`, with spaces between them. */',
  'export const revisions: Readonly<Record<string, string>> = {',
  ...revisions.map((revision, i) => `  ${quoted(revision)}:\n    ${quoted((names[i] ?? []).join(' '))},`),
  '}',
  '',
]
const target = join(import.meta.dirname, '../src/findings/mcp-schemas/definitions.ts')
if (mode !== '--check') {
  writeFileSync(target, lines.join('\n'))
  execFileSync('npx', ['oxfmt', target], { stdio: 'inherit' })
} else if (readFileSync(target, 'utf8') !== lines.join('\n'))
  throw new Error(
    'src/findings/mcp-schemas/definitions.ts is not what the package says: run the script without --check',
  )
