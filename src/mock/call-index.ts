import { createHash } from 'node:crypto'
import { canonicalJson } from '../compare/index.js'
import { IdTable, createIntColumn, setRow, type Envelope } from '../model/index.js'
import { redactionMarker } from '../redaction/index.js'
import { jsonIn, kindAt, memberOf, membersOf } from '../wire/index.js'
import { noRow } from './script.js'

/** Finds recorded calls and notifications with the same content as one of the client's. */
export interface CallIndex {
  /** The first row with this short key, in the order of the recording: a call with the same content; else `noRow`. */
  first(key: string): number
  /** The next row with the same key. */
  next(row: number): number
  /** Partly redacted rows of calls with this method, in order. */
  redacted(method: string): readonly number[]
  /** Rows of this method, one for each way to call it, in order; for messages about the recording. */
  examples(method: string): readonly number[]
  readonly methods: readonly string[]
  /** The row counts as not recorded. */
  isLeftOut(row: number): boolean
}

export interface CallIndexWriter extends CallIndex {
  /** @param text of the row */
  add(row: number, text: string, envelope: Envelope): void
  leaveOut(row: number): void
}

/** Longer keys are hashed. */
const longestKey = 120
/** Number of ways to call one method that are kept for explanations. */
const mostExamples = 2_000

/** Methods with which the client introduces itself when it opens a conversation. */
const openers: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/**
 * One key for all calls with the same content: independent of the client, of member order and spelling, and of `_meta`
 * (progress tokens, trace context, names of clients, ids made up by clients). Empty arguments count as none. Input to a
 * task does not count.
 *
 * @param text exact text of a request or notification
 */
export function callKey(text: string, method: string): string {
  if (openers.has(method)) return `${method} `
  return method === 'tasks/update' ? roundKey(text, method) : `${method} ${paramsText(text)}`
}

/** Key of the first round's request: without inputs and state of a later round. */
export function roundKey(text: string, method: string): string {
  return `${method} ${paramsText(text, ofRound)}`
}

const ofRound = /^\/params\/(?:inputResponses|requestState)$/

function paramsText(text: string, leaveOut?: RegExp): string {
  const found = jsonIn(text)
  if (!found) return text
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

/** Keys are as long as the content they stand for; long ones are hashed. */
export function shortKey(key: string): string {
  return key.length <= longestKey ? key : createHash('sha256').update(key).digest('base64')
}

export function createCallIndex(): CallIndexWriter {
  // Rows by the hash of a key: the keys themselves would take more memory than everything else.
  const firsts = new IdTable()
  /** By the first row with a key: the last row, if there are several. */
  const lasts = createIntColumn()
  /** By row; rows that are not calls have none. */
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
