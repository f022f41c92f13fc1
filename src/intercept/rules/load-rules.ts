import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Diagnostic } from '../../model/index.js'
import { describeRule, type DescribedRule } from './describe-rule.js'
import { parseRules } from './parse-rules.js'
import { readText, readTextFrom, type TextRead } from './read-text.js'
import type { ParsedRules } from './rule.js'

/** A loaded rules file. */
export interface LoadedRules {
  readonly path: string
  /** Absent on errors. */
  readonly parsed?: ParsedRules
  /** Its rules in words; empty on errors. */
  readonly described: readonly DescribedRule[]
  /** In file order, without the file's name. Empty if there are no problems. */
  readonly diagnostics: readonly Diagnostic[]
  /** Files that the rules were read from, with their stamps: a changed stamp requires a reload. */
  readonly files: ReadonlyMap<string, string>
}

/**
 * Reads a rules file, and the files that its rules respond with. Never throws: problems are diagnostics.
 *
 * @param path relative file names are resolved from its folder
 * @param given its bytes, if they come from another source
 */
export async function loadRules(path: string, given?: AsyncIterable<Uint8Array>): Promise<LoadedRules> {
  const files = new Map<string, string>()
  const read = async (file: string): Promise<TextRead> => {
    // Stamped before reading, so that a change in between is detected later.
    files.set(file, await stampOf(file))
    return readText(file)
  }
  const main = given ? await readTextFrom(given) : await read(path)
  if ('problem' in main) {
    const message = `cannot be read: ${main.problem}`
    return { path, described: [], diagnostics: [{ severity: 'error', code: 'unreadable', message }], files }
  }
  const answers = new Map<string, TextRead>()
  // The first pass finds the named files; the second parses with all of them loaded.
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

/** Stamp of a file: different after every change that is visible from outside. */
export async function stampOf(file: string): Promise<string> {
  return stat(file).then(
    ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
    () => 'not there',
  )
}

/** The first problem, in one line. */
export function faultLine(name: string, diagnostics: readonly Diagnostic[]): string {
  const [first] = diagnostics
  if (!first) return ''
  const { line, column } = first.at ?? {}
  const place = line === undefined ? '' : `, line ${line}, column ${column ?? 1}`
  const more = diagnostics.length === 1 ? '' : ` (and ${diagnostics.length - 1} more)`
  return `${name}${place}: ${first.message}${more}`
}
