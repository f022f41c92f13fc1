import { readFile } from 'node:fs/promises'
import { isMap, isSeq, parseDocument, type Document, type YAMLSeq } from 'yaml'
import { loadRules } from '../intercept/index.js'
import { replaceFile } from '../tape/index.js'

/** A rule of a file, in words. */
export interface ListedRule {
  readonly name: string
  readonly when: string
  readonly does: string
}

/** Large whole numbers keep their digits. */
const exact = { intAsBigInt: true }

/** The rules of a file; none if it is missing. */
export async function listRules(path: string): Promise<readonly ListedRule[]> {
  const { described } = await loadRules(path)
  return described.map(({ name, when, does }) => ({ name, when, does }))
}

/** Names of a file's rules after a change; on a fault the file is unchanged. */
export type RulesChange = { readonly names: readonly string[] } | { readonly fault: string }

/**
 * Inserts the rules of a text before those of a file, which is created if missing. Its content, including comments,
 * stays.
 */
export async function addRules(path: string, text: string): Promise<RulesChange> {
  const given = parseDocument(text, exact)
  const wanted = rulesIn(given)
  if (given.errors.length > 0 || !wanted || wanted.items.length === 0)
    return { fault: given.errors[0]?.message.split('\n')[0] ?? 'the text has no rule in a list "rules"' }
  const document = parseDocument((await fileText(path)) ?? 'rules: []', exact)
  const rules = rulesIn(document)
  if (!rules) return { fault: `${path} has no list "rules"` }
  const taken = new Set(rules.items.map(nameOf))
  for (const rule of wanted.items) {
    const name = freeName(nameOf(rule), taken)
    if (isMap(rule)) rule.set('name', name)
    taken.add(name)
  }
  // The first answering rule decides.
  rules.items.unshift(...wanted.items)
  rules.flow = false
  return write(path, document, rules)
}

export async function removeRule(path: string, name: string): Promise<RulesChange> {
  const document = parseDocument((await fileText(path)) ?? '', exact)
  const rules = rulesIn(document)
  const at = rules?.items.findIndex((rule) => nameOf(rule) === name) ?? -1
  if (!rules || at < 0) return { fault: 'no rule has this name' }
  rules.delete(at)
  return write(path, document, rules)
}

async function write(path: string, document: Document, { items }: YAMLSeq): Promise<RulesChange> {
  const bytes = new TextEncoder().encode(document.toString({ lineWidth: 0 }))
  // The capture is not given a file without rules; it stays for the next one.
  const { diagnostics } = items.length === 0 ? { diagnostics: [] } : await loadRules(path, once(bytes))
  const [wrong] = diagnostics
  if (wrong) return { fault: wrong.message }
  await replaceFile(path, bytes)
  return { names: items.map(nameOf) }
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}

function fileText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

function rulesIn({ contents }: Document): YAMLSeq | undefined {
  const rules = isMap(contents) ? contents.get('rules') : undefined
  return isSeq(rules) ? rules : undefined
}

function nameOf(rule: unknown): string {
  const name = isMap(rule) ? rule.get('name') : undefined
  return typeof name === 'string' ? name : 'rule'
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name} ${number}`
    if (!taken.has(free)) return free
  }
}
