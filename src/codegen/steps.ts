import { ruledPlaces, rulesFor, type CompareSettings } from '../compare/index.js'
import { redactionMarker, secretVariable } from '../redaction/index.js'
import { expectedOf, jsonText, type Json } from './expected.js'
import { Made } from './made.js'
import type { Argument, Step, TestPlan } from './plan.js'

/** A request of a recording and its response, as returned by `readRecording`. */
export interface RecordedTalk {
  readonly method: string
  readonly name?: string | undefined
  readonly seq: number
  readonly params: Json
  /** Exact text of the response. */
  readonly answer: string
}

const lists: Readonly<Record<string, readonly [member: string, name: string, title: string]>> = {
  'tools/list': ['tools', 'name', 'offers its tools'],
  'prompts/list': ['prompts', 'name', 'offers its prompts'],
  'resources/list': ['resources', 'uri', 'offers its resources'],
  'resources/templates/list': ['resourceTemplates', 'uriTemplate', 'offers its resource templates'],
}
const tested = new Set([...Object.keys(lists), 'tools/call', 'prompts/get', 'resources/read'])
const mostSteps = 1_000

/** Plans the readable test of a recording. */
export function planTests(
  talks: readonly RecordedTalk[],
  settings: CompareSettings,
  before: readonly string[],
): TestPlan {
  const made = new Made()
  const steps: Step[] = []
  const left = before.map((text) => text.replaceAll(/[^\u{20}-\u{7e}]/gu, '?'))
  const secrets: string[] = []
  const titles = new Map<string, number>()
  for (const talk of talks) {
    if (!tested.has(talk.method)) continue
    if (steps.length === mostSteps) {
      left.push(`messages from ${talk.seq} on: a file has at most ${mostSteps} tests`)
      break
    }
    const list = lists[talk.method]
    // Later pages and repeated lists add nothing new about a server.
    if (list && (steps.some(({ method }) => method === talk.method) || cursorIn(talk.params))) continue
    const params = argumentOf(talk.params, made, secrets, [])
    made.said(talk.params)
    const answer = JSON.parse(talk.answer) as { result?: Json; error?: { message?: string } }
    const title = titleOf(list?.[2] ?? talk.name ?? talk.method, titles)
    if (answer.result === undefined) {
      const message = answer.error?.message ?? ''
      steps.push({ title, method: talk.method, params, variables: [], outcome: { kind: 'error', message } })
      continue
    }
    const result = answer.result
    if (list) {
      const [member, nameMember] = list
      steps.push({
        title,
        method: talk.method,
        params: { kind: 'map', members: [] },
        variables: [],
        outcome: { kind: 'names', member, nameMember, names: namesOf(result, member, nameMember) },
      })
      continue
    }
    const places = ruledPlaces(talk.answer, rulesFor(settings, talk.method, talk.name))
    const step: { outcome: Step['outcome'] } = { outcome: outcomeOf(result, places, made) }
    steps.push({ title, method: talk.method, params, ...step, variables: made.learn(steps.length, result) })
  }
  return made.finish(steps, secrets, left)
}

function cursorIn(params: Json): boolean {
  return typeof params === 'object' && params !== null && !Array.isArray(params) && 'cursor' in params
}

function titleOf(name: string, titles: Map<string, number>): string {
  const count = (titles.get(name) ?? 0) + 1
  titles.set(name, count)
  return count === 1 ? name : `${name} (${count})`
}

function namesOf(result: Json, member: string, name: string): string[] {
  const list = (result as Record<string, Json>)[member]
  const items = Array.isArray(list) ? list : []
  return items.flatMap((item) => {
    const found = (item as Record<string, Json> | null)?.[name]
    return typeof found === 'string' ? [found] : []
  })
}

/** Members of a result that say nothing about its content. */
const noise = new Set(['_meta', 'resultType', 'ttlMs', 'cacheScope'])

function outcomeOf(result: Json, places: ReadonlyMap<string, unknown>, made: Made): Step['outcome'] {
  const plain = Object.fromEntries(
    Object.entries(result as Record<string, Json>).filter(([name]) => !noise.has(name)),
  )
  const json = jsonText(plain)
  const isTold = made.wasSaid.bind(made)
  const isTwice = JSON.stringify(json) === JSON.stringify(plain['structuredContent'])
  if (json === undefined) return { kind: 'result', expected: expectedOf(plain, '/result', places, isTold) }
  const { content: _, ...others } = plain
  // Many results hold the same value in both places: one check is enough.
  if (isTwice) return { kind: 'result', expected: expectedOf(others, '/result', places, isTold) }
  return {
    kind: 'result',
    json: expectedOf(json, '/result/content/0/text', places, isTold),
    expected: expectedOf(others, '/result', places, isTold),
  }
}

function argumentOf(value: Json, made: Made, secrets: string[], path: readonly string[]): Argument {
  if (typeof value === 'string' && value.includes(redactionMarker)) {
    const name = secretName(path.at(-1) ?? 'secret', secrets)
    return { kind: 'secret', name }
  }
  const variable = made.use(value)
  if (variable !== undefined) return { kind: 'variable', name: variable }
  if (Array.isArray(value))
    return { kind: 'list', items: value.map((item) => argumentOf(item, made, secrets, path)) }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([name]) => path.length > 0 || name !== '_meta')
      .map(([name, item]) => [name, argumentOf(item, made, secrets, [...path, name])] as const)
    return { kind: 'map', members }
  }
  return { kind: 'value', value }
}

function secretName(member: string, secrets: string[]): string {
  const name = secretVariable(member)
  if (!secrets.includes(name)) secrets.push(name)
  return name
}
