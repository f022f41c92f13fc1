import { createIntColumn, createNumberColumn, type RedactionMark } from '../model/index.js'
import type { TextStore } from '../tape/index.js'

/**
 * What a recorded message is to a mock. The client's: a `call` (request), a `note` (notification), a `reply`
 * (answer to a question). The server's: a `question` (request), a `notice` (notification, or anything that is not
 * JSON-RPC), an `answer` to a call, a `refusal`:
 * an HTTP response without JSON-RPC in the place of one, and `noise`: a line that is no message.
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

/** How a server's message reached the client over HTTP, as far as the recording tells. */
export type RecordedWay = 'unknown' | 'json' | 'request-stream' | 'other-stream'

const ways: readonly RecordedWay[] = ['unknown', 'json', 'request-stream', 'other-stream']

export const noRow = -1

/** A message of the recording, when it is added. */
export interface NewRow {
  readonly kind: RowKind
  /** Exact text. */
  readonly text: string
  readonly conversation: number
  /** As `inspect` numbers it. */
  readonly number: number
  /** Microseconds since the session began. */
  readonly us: number
  readonly way?: RecordedWay
  readonly status?: number
  readonly marks?: readonly RedactionMark[]
}

/**
 * A recording as a server's part to play: which of its messages follows from which of the client's. Some 80
 * bytes a message; texts are fetched when they are needed.
 */
export interface Script {
  readonly length: number
  kind(row: number): RowKind
  text(row: number): string
  /** What redaction replaced in the text; pointers into this message. */
  marks(row: number): readonly RedactionMark[]
  conversation(row: number): number
  number(row: number): number
  us(row: number): number
  way(row: number): RecordedWay
  /** HTTP status of the response that brought it; 0 when it is not known. */
  status(row: number): number
  /** The first message of the server that follows from this one of the client; of `conversationStart` what it said first. */
  firstEffect(cause: number): number
  nextEffect(row: number): number
  /** Of a question, the client's reply. Of a call, what cancelled it; where that is no message, the next row. */
  closedBy(row: number): number
  /** What a server's message names: the call whose token or subscription it has, the question that it cancels. */
  names(row: number): number
  /** Messages of the server name this row. */
  isNamed(row: number): boolean
  /** Of a call that was answered `input_required`, the call of the next round. */
  nextRound(row: number): number
  /** The answer to a call. */
  answerTo(call: number): number
}

/** The script while it is written. */
export interface ScriptWriter extends Script {
  add(row: NewRow): number
  addEffect(cause: number, row: number): void
  setClosedBy(row: number, by: number): void
  setNames(row: number, named: number): void
  setNextRound(row: number, next: number): void
  setAnswer(call: number, answer: number): void
}

/** The response to a call was one JSON object, or no JSON-RPC: nothing belonged to it before. */
export function comesInOnePiece(script: Script, call: number): boolean {
  const answer = script.answerTo(call)
  if (answer !== noRow) return script.way(answer) === 'json'
  let row = script.firstEffect(call)
  while (row !== noRow && script.way(row) === 'other-stream') row = script.nextEffect(row)
  return row !== noRow && script.kind(row) === 'refusal'
}

/** The cause of what a server says before the client has said anything. */
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
  /** Row to text: marks are texts of their own. */
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
