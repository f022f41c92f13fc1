#!/usr/bin/env node
// @ts-check
/**
 * Prints every text of the user interface, one a line: `FILE:LINE<tab>KIND<tab>TEXT`. KIND is `text` for a string of
 * the program, `label` for text and attributes of the viewer's pages. Use it to proofread messages and labels as a
 * whole, and to compare two versions: `node scripts/words.mjs > words.txt`. For the help texts of all commands: `node
 * scripts/words.mjs --help-texts`.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

const root = resolve(import.meta.dirname, '..')
/** Attributes whose values are shown or read aloud. */
const shownAttributes = new Set([
  'title',
  'placeholder',
  'alt',
  'label',
  'name',
  'aria-label',
  'aria-description',
])
/** Calls whose short texts are shown: nouns after a number. */
const countingCalls = new Set(['countOf'])
/** Calls whose texts are not shown to users. */
const silentCalls = new Set(['querySelector', 'querySelectorAll', 'matches', 'closest', 'RegExp', 'require'])

if (process.argv.includes('--help-texts')) printHelp([])
else {
  for (const folder of ['src', 'viewer']) printFolder(folder)
  printMatches('viewer/index.html', /(?<=>)[^<>{}]*\p{L}{2}[^<>{}]*(?=<)/gu)
  printMatches(
    'helpers/wiretape_pytest.py',
    /(?<=["'])[^"'\n]*\p{L}{2,}[,:;]? (?:\p{L}|\{)[^"'\n]*(?=["'])/gu,
  )
}

/** Texts of a file that is not TypeScript. @param {string} file @param {RegExp} pattern */
function printMatches(file, pattern) {
  const text = readFileSync(join(root, file), 'utf8')
  const lineAt = lineFinder(text)
  for (const match of text.matchAll(pattern))
    console.log(`${file}:${lineAt(match.index)}\ttext\t${oneLine(match[0])}`)
}

/** @param {string} folder */
function printFolder(folder) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  for (const name of names.filter((one) => /\.tsx?$/.test(one) && !one.endsWith('.d.ts')).toSorted()) {
    const text = readFileSync(join(root, folder, name), 'utf8')
    const lineAt = lineFinder(text)
    for (const { start, kind, words } of shownTexts(text, name))
      console.log(`${folder}/${name}:${lineAt(start)}\t${kind}\t${words}`)
  }
}

/**
 * @param {string} text
 * @param {string} name
 * @returns {{ start: number, kind: 'text' | 'label', words: string }[]}
 */
function shownTexts(text, name) {
  /** @type {{ start: number, kind: 'text' | 'label', words: string }[]} */
  const found = []
  /** @param {any} node @param {any} parent @param {string} [attribute] */
  const visit = (node, parent, attribute) => {
    if (Array.isArray(node)) return node.forEach((one) => visit(one, parent, attribute))
    if (typeof node?.type !== 'string') return
    if (/^(?:Import|Export(?:All|Named)).*Declaration$/.test(node.type) && node.source) return
    if (node.type.startsWith('TS') && !node.type.endsWith('Expression')) return
    if (node.type === 'CallExpression' && silentCalls.has(node.callee.property?.name ?? node.callee.name))
      return
    const call = node.type === 'CallExpression' ? (node.callee.property?.name ?? node.callee.name) : undefined
    if (countingCalls.has(call))
      for (const word of node.arguments
        .slice(1)
        .map(wordsOf)
        .filter((/** @type {string} */ one) => one !== '' && !isProse(one)))
        found.push({ start: node.start, kind: 'text', words: word })
    if (node.type === 'JSXAttribute') {
      const attributeName = String(node.name.name?.name ?? node.name.name)
      return visit(node.value, node, attributeName)
    }
    if (node.type === 'JSXText' && /\p{L}/u.test(node.value))
      found.push({ start: node.start, kind: 'label', words: oneLine(node.value) })
    const words = wordsOf(node)
    // A single word may be a key or a value. As a child of an element, or in an attribute that is shown, it is a label.
    const isChild =
      parent?.type === 'JSXExpressionContainer' || isChoice(parent) || shownAttributes.has(parent?.key?.name)
    const isShown =
      attribute === undefined
        ? isProse(words) || (isChild && /^\p{Lu}\p{Ll}+$/u.test(words))
        : shownAttributes.has(attribute) && words !== ''
    if (isShown && !(parent?.type === 'Property' && parent.key === node))
      found.push({ start: node.start, kind: attribute === undefined ? 'text' : 'label', words })
    for (const [key, child] of Object.entries(node)) if (key !== 'type') visit(child, node, attribute)
  }
  visit(parseAst(text, { lang: name.endsWith('x') ? 'tsx' : 'ts' }, name).body, undefined)
  return found
}

/** The text of a literal; `{}` stands for an embedded value. @param {any} node */
function wordsOf(node) {
  if (node.type === 'Literal' && typeof node.value === 'string') return oneLine(node.value)
  if (node.type === 'TemplateLiteral')
    return oneLine(node.quasis.map((/** @type {any} */ { value }) => value.cooked ?? value.raw).join('{}'))
  return ''
}

/** Whether an expression chooses between texts. @param {any} parent */
function isChoice(parent) {
  return parent?.type === 'ConditionalExpression'
}

/**
 * Whether a text has two words of letters beside each other: names, keys and paths have no blanks. @param {string}
 * words
 */
function isProse(words) {
  return /\p{L}{2,}[,:;]? (?:\p{L}|\{\})|\{\}[,:;]? \p{L}{2,}/u.test(words)
}

/** @param {string} text */
function oneLine(text) {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** @param {string} text */
function lineFinder(text) {
  const starts = [...text.matchAll(/^/gm)].map(({ index }) => index)
  return (/** @type {number} */ at) => starts.findLastIndex((start) => start <= at) + 1
}

/** The help of a command and of those below it. @param {readonly string[]} command */
function printHelp(command) {
  const argv = [join(root, 'dist/bin/wiretape.js'), ...command, '--help']
  const { stdout } = spawnSync(process.execPath, argv, {
    encoding: 'utf8',
    env: { ...process.env, COLUMNS: '120' },
  })
  console.log(`\n===== wiretape ${command.join(' ')}\n${stdout}`)
  const [, list = ''] = /^Commands:\n((?: .*\n)*)/m.exec(stdout) ?? []
  for (const [, name] of list.matchAll(/^ {2}([a-z][\w-]*)/gm))
    if (name !== undefined && name !== 'help') printHelp([...command, name])
}
