import { escapePattern, jsonText, type Expected, type Json } from './expected.js'
import type { Step, TestPlan, Variable } from './plan.js'

interface Origin extends Omit<Variable, 'name'> {
  readonly step: number
  name?: string
}

const mostKept = 20_000
/** A word that a server is likely to have made: it has a digit and no white space. */
const word = /[\w.:/+=~@-]*\d[\w.:/+=~@-]*/g

/** Values that the server made, and which of them the client gives back. */
export class Made {
  readonly #origins = new Map<string, Origin>()
  readonly #said = new Set<string>()
  readonly #names: string[] = []
  readonly #used: Origin[] = []

  /** The client said all of this. */
  said(params: Json): void {
    for (const { value } of leavesOf(params)) if (this.#said.size < mostKept) this.#said.add(`${value}`)
  }

  wasSaid(text: string): boolean {
    if (this.#said.has(text)) return true
    for (const said of this.#said) if (said.includes(text)) return true
    return false
  }

  /** Of a value that an earlier answer gave, and the client had not said before: the variable that holds it. */
  use(value: Json): string | undefined {
    if (typeof value !== 'string' && typeof value !== 'number') return undefined
    const origin = this.#origins.get(keyOf(value))
    if (!origin) return undefined
    if (origin.name === undefined) {
      origin.name = this.#nameFor(origin)
      this.#used.push(origin)
    }
    return origin.name
  }

  /** Notes what an answer brings. @returns filled by `finish` */
  learn(step: number, result: Json): Variable[] {
    const json = jsonText(result as Record<string, Json>)
    const keep = (origin: Origin): void => {
      const key = keyOf(origin.value)
      if (this.#said.has(String(origin.value)) || this.#origins.has(key) || this.#origins.size >= mostKept)
        return
      this.#origins.set(key, origin)
    }
    const structured = (result as Record<string, Json>)['structuredContent']
    for (const { value, path } of leavesOf(structured ?? null))
      if (looksMade(value)) keep({ step, within: 'result', path: ['structuredContent', ...path], value })
    for (const { value, path } of leavesOf(json ?? null))
      if (looksMade(value)) keep({ step, within: 'json', path, value })
    if (json === undefined) {
      const content = (result as Record<string, Json>)['content'] ?? null
      for (const { value, path } of leavesOf(content)) {
        if (typeof value !== 'string' || path.at(-1) !== 'text') continue
        for (const match of value.slice(0, 10_000).matchAll(word)) {
          const found = match[0].replace(/[.:,]+$/, '')
          if (!looksMade(found)) continue
          const pattern = patternAround(value, match.index, found)
          keep({ step, within: 'result', path: ['content', ...path], value: found, pattern })
        }
      }
    }
    return []
  }

  finish(steps: readonly Step[], secrets: readonly string[], left: readonly string[]): TestPlan {
    const values = this.#used.map(({ value }) => String(value))
    return {
      secrets,
      left,
      variables: this.#names,
      steps: steps.map((step, i) => {
        const variables = this.#used
          .filter((origin) => origin.step === i)
          .map((origin) => ({ ...origin, name: origin.name! }))
        const { outcome } = step
        if (outcome.kind !== 'result') return step
        const { expected, json } = outcome
        return {
          ...step,
          variables,
          outcome: {
            ...outcome,
            expected: withoutValues(expected, values),
            ...(json && { json: withoutValues(json, values) }),
          },
        }
      }),
    }
  }

  #nameFor({ path }: Origin): string {
    const last = [...path].reverse().find((step) => typeof step === 'string' && step !== 'text')
    const plain = String(last ?? 'value')
      .replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => (next ?? '').toUpperCase())
      .replace(/^[^a-z]+/i, '')
    const base =
      plain === '' || plain === 'content' || reserved.has(plain)
        ? 'made'
        : plain.replace(/^./, (first) => first.toLowerCase())
    let name = base
    for (let i = 2; this.#names.includes(name); i += 1) name = `${base}${i}`
    this.#names.push(name)
    return name
  }
}

/** Words of the languages, and names of the generated files. */
const reserved = new Set(
  'client call result server test expect assert def class for from import in is not null true false var let const new return type delete function session text json pytest re None True False'.split(
    ' ',
  ),
)

function looksMade(value: Json): value is string | number {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 100
  return (
    typeof value === 'string' &&
    value.length >= 6 &&
    value.length <= 4096 &&
    /\d/.test(value) &&
    !/\s/.test(value)
  )
}

function keyOf(value: string | number): string {
  return `${typeof value} ${value}`
}

/** Finds a word again by what stands around it on its line. */
function patternAround(text: string, at: number, found: string): string {
  const before = /[^\n\d]{0,24}$/.exec(text.slice(Math.max(0, at - 24), at))![0]
  const next = text.charAt(at + found.length)
  const after = next === '' || /\s/.test(next) ? '' : escapePattern(next)
  return `${escapePattern(before)}(\\S+${after === '' ? '' : '?'})${after}`
}

/** Texts with a value of this run in them say anything there. */
function withoutValues(expected: Expected, values: readonly string[]): Expected {
  if (expected.kind === 'list')
    return { ...expected, items: expected.items.map((item) => withoutValues(item, values)) }
  if (expected.kind === 'map')
    return {
      ...expected,
      members: expected.members.map(([name, item]) => [name, withoutValues(item, values)] as const),
    }
  if (expected.kind === 'pattern') {
    let { source } = expected
    for (const value of values) source = source.replaceAll(escapePattern(value), String.raw`\S+`)
    return { ...expected, source }
  }
  if (expected.kind !== 'value') return expected
  const text = String(expected.value)
  if (values.includes(text))
    return { kind: 'any', type: typeof expected.value === 'number' ? 'number' : 'string' }
  if (typeof expected.value !== 'string' || !values.some((value) => text.includes(value))) return expected
  let source = escapePattern(text)
  for (const value of values) source = source.replaceAll(escapePattern(value), String.raw`\S+`)
  return { kind: 'pattern', source: `^${source}$` }
}

interface Leaf {
  readonly value: null | boolean | number | string
  readonly path: readonly (string | number)[]
}

function* leavesOf(value: Json, path: readonly (string | number)[] = []): Generator<Leaf> {
  if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* leavesOf(item, [...path, i])
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) yield* leavesOf(item, [...path, name])
  else yield { value, path }
}
