import { createHash } from 'node:crypto'
import { canonicalJson } from '../compare/index.js'
import { createIdTable, createIntColumn, setRow, type Envelope } from '../model/index.js'
import { redactionMarker } from '../redaction/index.js'
import { findJsonValue, isFault, kindAt, memberOf, membersOf } from '../wire/index.js'
import { noRow } from './script.js'

/** Finds the recorded calls and notes that ask for the same as one of the client's. */
export interface CallIndex {
  /** The first row with this short key: it asks for exactly this, in the order of the recording; `noRow` when there is none. */
  first(key: string): number
  /** The next row with the same key. */
  next(row: number): number
  /** Rows of which a part was redacted, of calls with this method, in order. */
  redacted(method: string): readonly number[]
  /** Rows of this method, each way to call it once, in order: for telling what was recorded. */
  examples(method: string): readonly number[]
  readonly methods: readonly string[]
  /** It counts as never asked. */
  isLeftOut(row: number): boolean
}

export interface CallIndexWriter extends CallIndex {
  /** @param text of the row */
  add(row: number, text: string, envelope: Envelope): void
  leaveOut(row: number): void
}

/** Longer keys are hashed. */
const longestKey = 120
/** Ways to call one method that are kept for explanations. */
const mostExamples = 2_000

/** What the client says about itself when it opens a conversation. */
const openers: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/**
 * One text for all calls that ask for the same: whoever asks, in whatever order and spelling, with whatever
 * `_meta` (progress tokens, trace context, names of clients, ids that clients make up). Empty arguments are none. What a
 * task is told does not count.
 *
 * @param text exact text of a request or notification
 */
export function callKey(text: string, method: string): string {
  if (openers.has(method)) return `${method} `
  return method === 'tasks/update' ? roundKey(text, method) : `${method} ${paramsText(text)}`
}

/** Inputs and state of a later round left out: what the first round asked for. */
export function roundKey(text: string, method: string): string {
  return `${method} ${paramsText(text, ofRound)}`
}

const ofRound = /^\/params\/(?:inputResponses|requestState)$/

function paramsText(text: string, leaveOut?: RegExp): string {
  const found = findJsonValue(text)
  if (isFault(found)) return text
  const params = memberOf(membersOf(text, found.start), 'params')
  if (!params) return ''
  const key = canonicalJson(
    text,
    params.start,
    (at, inner, start) => {
      if (at === '/params/_meta' || leaveOut?.test(at)) return ''
      return at === '/params/arguments' && isEmptyObject(inner, start) ? '' : undefined
    },
    '/params',
  )
  return key === '{}' ? '' : key
}

function isEmptyObject(text: string, start: number): boolean {
  return kindAt(text, start) === 'object' && membersOf(text, start).length === 0
}

/** Keys are as long as what they stand for; long ones are hashed. */
export function shortKey(key: string): string {
  return key.length <= longestKey ? key : createHash('sha256').update(key).digest('base64')
}

export function createCallIndex(): CallIndexWriter {
  // Rows by the hash of a key: the keys themselves would take more memory than all else.
  const firsts = createIdTable()
  /** By the first row with a key: the last one, where there are more. */
  const lasts = createIntColumn()
  /** By row; rows that are no calls have none. */
  const nexts = createIntColumn()
  const redacted = new Map<string, number[]>()
  const examples = new Map<string, number[]>()
  const leftOut = new Set<number>()
  return {
    leaveOut: (row) => void leftOut.add(row),
    isLeftOut: (row) => leftOut.has(row),
    add(row, text, { method = '' }) {
      const key = callKey(text, method)
      const known = examples.get(method) ?? []
      if (known.length === 0) examples.set(method, known)
      if (key.includes(redactionMarker)) {
        const rows = redacted.get(method) ?? []
        if (rows.length === 0) redacted.set(method, rows)
        rows.push(row)
        if (known.length < mostExamples) known.push(row)
        return
      }
      const short = shortKey(key)
      const start = firsts.get(short)
      if (start === noRow) {
        firsts.set(short, row)
        if (known.length < mostExamples) known.push(row)
        return
      }
      const last = lasts.get(start)
      setRow(nexts, last === noRow ? start : last, row)
      setRow(lasts, start, row)
    },
    first: (key) => firsts.get(key),
    next: nexts.get,
    redacted: (method) => redacted.get(method) ?? [],
    examples: (method) => examples.get(method) ?? [],
    get methods() {
      return [...examples.keys()]
    },
  }
}
