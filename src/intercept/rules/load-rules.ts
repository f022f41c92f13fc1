import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Diagnostic } from '../../model/index.js'
import { describeRule, type DescribedRule } from './describe-rule.js'
import { parseRules } from './parse-rules.js'
import { readText, readTextFrom, type TextRead } from './read-text.js'
import type { ParsedRules } from './rule.js'

/** A rules file as it was read. */
export interface LoadedRules {
  readonly path: string
  /** Absent when something is wrong. */
  readonly parsed?: ParsedRules
  /** Its rules in words; none when something is wrong. */
  readonly described: readonly DescribedRule[]
  /** Without the file's name; in its order. Empty when all is well. */
  readonly diagnostics: readonly Diagnostic[]
  /** Files that the rules are made of, and what they were like: changes say that it is to be read again. */
  readonly files: ReadonlyMap<string, string>
}

/**
 * Reads a rules file, and the files that its rules respond with. Never throws: what is wrong is a diagnostic.
 *
 * @param path files are named from its folder
 * @param given its bytes, where they come from elsewhere
 */
export async function loadRules(path: string, given?: AsyncIterable<Uint8Array>): Promise<LoadedRules> {
  const files = new Map<string, string>()
  const read = async (file: string): Promise<TextRead> => {
    // Before it is read: what changes meanwhile looks changed later.
    files.set(file, await stampOf(file))
    return readText(file)
  }
  const main = given ? await readTextFrom(given) : await read(path)
  if ('problem' in main) {
    const message = `cannot be read: ${main.problem}`
    return { path, described: [], diagnostics: [{ severity: 'error', code: 'unreadable', message }], files }
  }
  const answers = new Map<string, TextRead>()
  // Which files there are is known when the rules are read; then they are read again, with all at hand.
  const wanted = new Set<string>()
  let reading = parseRules(main.text, {
    readFile: (name) => {
      wanted.add(name)
      return { text: '{"result":{}}' }
    },
  })
  if (wanted.size > 0) {
    for (const name of wanted) answers.set(name, await read(resolve(dirname(path), name)))
    reading = parseRules(main.text, {
      readFile: (name) => answers.get(name) ?? { problem: 'the file was not read' },
    })
  }
  const { diagnostics, ...parsed } = reading
  if (diagnostics.length > 0) return { path, diagnostics, described: [], files }
  return { path, diagnostics, parsed, described: parsed.rules.map(describeRule), files }
}

/** What a file is like: another text after every change that can be seen from outside. */
export async function stampOf(file: string): Promise<string> {
  return stat(file).then(
    ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
    () => 'not there',
  )
}

/** The first thing that is wrong, in one line. */
export function faultLine(name: string, diagnostics: readonly Diagnostic[]): string {
  const [first] = diagnostics
  if (!first) return ''
  const { line, column } = first.at ?? {}
  const place = line === undefined ? '' : `, line ${line}, column ${column ?? 1}`
  const more = diagnostics.length === 1 ? '' : ` (and ${diagnostics.length - 1} more)`
  return `${name}${place}: ${first.message}${more}`
}
