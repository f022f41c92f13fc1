import { createIntColumn, createNumberColumn, type RedactionMark } from '../model/index.js'
import type { TextStore } from '../tape/index.js'

/**
 * The role of a recorded message in a mock. Of the client: a `call` (request), a `note` (notification), a `reply`
 * (response to a `question`). Of the server: a `question` (request), a `notice` (notification, or anything that is not
 * JSON-RPC), an `answer` to a call, a `refusal` (an HTTP response without JSON-RPC instead of an answer), and `noise`:
 * a line that is not a message.
 */
export type RowKind = 'call' | 'note' | 'reply' | 'question' | 'notice' | 'answer' | 'refusal' | 'noise'

const kinds: readonly RowKind[] = [
  'call',
  'note',
  'reply',
  'question',
  'notice',
  'answer',
  'refusal',
  'noise',
]

/** How a server's message reached the client over HTTP, as far as the recording shows. */
export type RecordedWay = 'unknown' | 'json' | 'request-stream' | 'other-stream'

const ways: readonly RecordedWay[] = ['unknown', 'json', 'request-stream', 'other-stream']

export const noRow = -1

/** A message of the recording to be added. */
export interface NewRow {
  readonly kind: RowKind
  /** Exact text. */
  readonly text: string
  readonly conversation: number
  /** Number shown by `inspect`. */
  readonly number: number
  /** Microseconds since the session began. */
  readonly us: number
  readonly way?: RecordedWay
  readonly status?: number
  readonly marks?: readonly RedactionMark[]
}

/**
 * A recording as a server's script: which of its messages follow from which message of the client. About 80 bytes per
 * message; texts are fetched on demand.
 */
export interface Script {
  readonly length: number
  kind(row: number): RowKind
  text(row: number): string
  /** Redacted places in the text; pointers into this message. */
  marks(row: number): readonly RedactionMark[]
  conversation(row: number): number
  number(row: number): number
  us(row: number): number
  way(row: number): RecordedWay
  /** HTTP status of the response that contained it; 0 if unknown. */
  status(row: number): number
  /** The first message of the server caused by this one of the client; for `conversationStart` its very first one. */
  firstEffect(cause: number): number
  nextEffect(row: number): number
  /** For a question, the client's reply. For a call, its cancellation; if that is not a message, the next row. */
  closedBy(row: number): number
  /** The row that a server's message refers to: the call with its token or subscription, the question it cancels. */
  names(row: number): number
  /** Some message of the server refers to this row. */
  isNamed(row: number): boolean
  /** For a call with the response `input_required`, the call of the next round. */
  nextRound(row: number): number
  /** The answer to a call. */
  answerTo(call: number): number
}

/** A script under construction. */
export interface ScriptWriter extends Script {
  add(row: NewRow): number
  addEffect(cause: number, row: number): void
  setClosedBy(row: number, by: number): void
  setNames(row: number, named: number): void
  setNextRound(row: number, next: number): void
  setAnswer(call: number, answer: number): void
}

/** The response to a call was one JSON object, or not JSON-RPC: no message belonged to it before. */
export function comesInOnePiece(script: Script, call: number): boolean {
  const answer = script.answerTo(call)
  if (answer !== noRow) return script.way(answer) === 'json'
  let row = script.firstEffect(call)
  while (row !== noRow && script.way(row) === 'other-stream') row = script.nextEffect(row)
  return row !== noRow && script.kind(row) === 'refusal'
}

/** The cause of a server's messages before the client's first message. */
export function conversationStart(conversation: number): number {
  return -2 - conversation
}

export function createScript(texts: TextStore): ScriptWriter {
  const int = createIntColumn
  const kindOf = int(0)
  const conversationOf = int(0)
  const numberOf = int(0)
  const usOf = createNumberColumn()
  const wayOf = int(0)
  const statusOf = int(0)
  const first = int()
  const last = int()
  const next = int()
  const closedBy = int()
  const names = int()
  const answers = int()
  const rounds = new Map<number, number>()
  const named = new Set<number>()
  const marksOf = new Map<number, number>()
  const starts = new Map<number, { first: number; last: number }>()
  /** Row to text. Marks are stored as separate texts. */
  const textNumber = int()
  const related = [first, last, next, closedBy, names, answers]

  return {
    get length() {
      return kindOf.length
    },
    kind: (row) => kinds[kindOf.get(row)]!,
    text: (row) => texts.read(textNumber.get(row)),
    marks(row) {
      const number = marksOf.get(row)
      return number === undefined ? [] : (JSON.parse(texts.read(number)) as RedactionMark[])
    },
    conversation: (row) => (row === noRow ? noRow : conversationOf.get(row)),
    number: numberOf.get,
    us: usOf.get,
    way: (row) => ways[wayOf.get(row)]!,
    status: statusOf.get,
    firstEffect: (cause) => (cause < noRow ? (starts.get(cause)?.first ?? noRow) : first.get(cause)),
    nextEffect: next.get,
    closedBy: closedBy.get,
    names: names.get,
    isNamed: (row) => named.has(row),
    nextRound: (row) => rounds.get(row) ?? noRow,
    answerTo: answers.get,

    add(row) {
      const at = kindOf.length
      kindOf.push(kinds.indexOf(row.kind))
      conversationOf.push(row.conversation)
      numberOf.push(row.number)
      usOf.push(row.us)
      wayOf.push(ways.indexOf(row.way ?? 'unknown'))
      statusOf.push(row.status ?? 0)
      for (const column of related) column.push(noRow)
      textNumber.push(texts.add(row.text))
      if (row.marks && row.marks.length > 0) marksOf.set(at, texts.add(JSON.stringify(row.marks)))
      return at
    },
    addEffect(cause, row) {
      if (cause < noRow) {
        const start = starts.get(cause)
        if (start) next.set(start.last, row)
        starts.set(cause, { first: start?.first ?? row, last: row })
        return
      }
      if (cause === noRow) return
      const before = last.get(cause)
      if (before === noRow) first.set(cause, row)
      else next.set(before, row)
      last.set(cause, row)
    },
    setClosedBy: closedBy.set,
    setNames(row, to) {
      names.set(row, to)
      named.add(to)
    },
    setNextRound: (row, following) => void rounds.set(row, following),
    setAnswer: answers.set,
  }
}
