import { readFile } from 'node:fs/promises'
import { isMap, isSeq, parseDocument, YAMLMap, YAMLSeq, type Document } from 'yaml'
import { parseSettingsFile } from '../compare/index.js'
import { WiretapeError } from '../model/index.js'
import { replaceFile } from '../tape/index.js'
import type { LearnedRule } from './learn.js'

/**
 * Adds rules to a file of rules, or creates one. Existing content stays, including comments.
 *
 * @returns number of new rules
 * @throws WiretapeError `usage` when the file cannot be read, or is not a file of rules
 */
export async function addRules(path: string, rules: readonly LearnedRule[]): Promise<number> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new WiretapeError('usage', `cannot read ${path}`, { cause: error as Error })
  })
  const parsed = parseSettingsFile(text)
  if ('fault' in parsed) throw new WiretapeError('usage', `${path}: ${parsed.fault.message}`)
  const document: Document = parseDocument(text)
  if (text === '')
    document.commentBefore = ' Response values that vary between runs, found by wiretape replay --learn.'
  if (!isMap(document.contents)) document.contents = document.createNode({})
  let added = 0
  for (const rule of rules) if (addTo(callOf(document, rule), rule, document)) added += 1
  if (added > 0) await replaceFile(path, document.toString({ lineWidth: 0 }))
  return added
}

/** The entry of `calls` for a rule's request. */
function callOf(document: Document, { method, name }: LearnedRule): YAMLMap {
  let calls = document.get('calls')
  if (!isSeq(calls)) {
    calls = new YAMLSeq()
    document.set('calls', calls)
  }
  const list = calls as YAMLSeq
  const known = list.items.find(
    (item) => isMap(item) && item.get('method') === method && item.get('name') === name,
  )
  if (known) return known as YAMLMap
  const made = document.createNode({ method, ...(name !== undefined && { name }) })
  list.add(made)
  return made
}

function addTo(call: YAMLMap, { path, matcher }: LearnedRule, document: Document): boolean {
  if (matcher === undefined) {
    if (!isSeq(call.get('ignore'))) call.set('ignore', new YAMLSeq())
    const ignored = call.get('ignore') as YAMLSeq
    if (ignored.toJSON().includes(path)) return false
    ignored.add(document.createNode(path))
    return true
  }
  if (!isMap(call.get('match'))) call.set('match', new YAMLMap())
  const matched = call.get('match') as YAMLMap
  if (matched.has(path)) return false
  matched.set(path, matcher)
  return true
}
