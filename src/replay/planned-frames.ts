import type { RecordingIndex } from '../compare/index.js'
import {
  createIntColumn,
  detach,
  isAnswer,
  type Draft,
  type Envelope,
  type MessageRecord,
} from '../model/index.js'

/** One message that the client said. */
export interface PlannedMessage {
  /** Its place among the messages of the client, from 0. */
  readonly index: number
  readonly row: number
  readonly part: number
  /** Number given at recording. */
  readonly seq: number
  readonly kind: 'request' | 'notification' | 'answer' | 'invalid'
  readonly method?: string
  readonly name?: string
  /** Exact JSON text. */
  readonly id?: string
  /** Row of the answer to a request, of the request that an answer belongs to; -1 for none. */
  readonly peer: number
  /** Nobody counts on an answer: it was cancelled, or stays open by design. */
  readonly loose: boolean
}

/** What the client sent at once: one message, or a batch. */
export interface PlannedFrame {
  /** Its place among the frames of the client, from 0. */
  readonly number: number
  readonly locator: number
  /** Row of its first message. */
  readonly row: number
  /** When it was sent: microseconds since the session began. */
  readonly us: number
  readonly connection: string
  /** `index` of its first message, and how many there are. */
  readonly firstIndex: number
  readonly count: number
}

/** What the client sent, in its order. No objects: a frame is made when it is asked for. */
export interface PlannedFrames extends Iterable<PlannedFrame> {
  readonly length: number
  /** Messages of all frames. */
  readonly messages: number
  at(number: number): PlannedFrame | undefined
  /** @param record of the frame */
  messagesOf(frame: PlannedFrame, record: MessageRecord): PlannedMessage[]
  /**
   * The client's answer to a request of the server; undefined when it is not replayed.
   *
   * @param record in which the row is
   */
  answerIn(row: number, record: MessageRecord): PlannedMessage | undefined
}

export interface FramesDraft {
  /** @param parts of its record that are sent; undefined for all */
  add(frame: Pick<PlannedFrame, 'row' | 'connection' | 'count'>, parts?: readonly number[]): void
  /** Call once. */
  finish(): PlannedFrames
}

export function createPlannedFrames(index: RecordingIndex): FramesDraft {
  const { entries } = index
  const rows = createIntColumn()
  const connections = createIntColumn()
  /** `index` of the first message of each. */
  const firsts = createIntColumn()
  const names: string[] = []
  const numbers = new Map<string, number>()
  /** Of frames that are sent in part. */
  const partial = new Map<number, readonly number[]>()
  /** Frames by the rows of answers to requests of the server. */
  const answers = new Map<number, number>()
  const copies = createCopies()
  let messages = 0

  function connectionNumber(name: string): number {
    let number = numbers.get(name)
    if (number === undefined) {
      number = names.push(name) - 1
      numbers.set(name, number)
    }
    return number
  }

  function at(number: number): PlannedFrame | undefined {
    if (number < 0 || number >= rows.length) return undefined
    const row = rows.get(number)
    const firstIndex = firsts.get(number)
    const end = number + 1 < firsts.length ? firsts.get(number + 1) : messages
    return {
      number,
      locator: index.place(row).locator,
      row,
      us: entries.us(row),
      connection: names[connections.get(number)]!,
      firstIndex,
      count: end - firstIndex,
    }
  }

  function messagesOf(
    { number, row: first, firstIndex, count }: PlannedFrame,
    { parts }: MessageRecord,
  ): PlannedMessage[] {
    const chosen = partial.get(number)
    const planned: PlannedMessage[] = []
    for (let i = 0; i < count; i += 1) {
      const part = chosen ? chosen[i]! : i
      const { envelope } = parts[part]!
      const row = first + part
      const message: Draft<PlannedMessage> = {
        index: firstIndex + i,
        row,
        part,
        seq: entries.seq(row),
        kind: isAnswer(envelope) ? 'answer' : (envelope.kind as 'request' | 'notification' | 'invalid'),
        peer: entries.peer(row),
        loose: entries.has(row, 'stream') || entries.has(row, 'cancelled'),
      }
      const { method, subject, id } = copies.of(envelope)
      if (method !== undefined) message.method = method
      if (subject !== undefined) message.name = subject
      if (id !== undefined) message.id = id
      planned.push(message)
    }
    return planned
  }

  return {
    add({ row, connection, count }, parts) {
      const number = rows.length
      if (parts) partial.set(number, parts)
      for (let i = 0; i < count; i += 1) {
        const at = row + (parts ? parts[i]! : i)
        const kind = entries.kind(at)
        if ((kind === 'result' || kind === 'error') && entries.peer(at) >= 0) answers.set(at, number)
      }
      rows.push(row)
      connections.push(connectionNumber(connection))
      firsts.push(messages)
      messages += count
    },
    finish: () => ({
      length: rows.length,
      messages,
      at,
      messagesOf,
      answerIn(row, record) {
        const number = answers.get(row)
        const frame = number === undefined ? undefined : at(number)
        return frame && messagesOf(frame, record).find((message) => message.row === row)
      },
      *[Symbol.iterator]() {
        for (let number = 0; number < rows.length; number += 1) yield at(number)!
      },
    }),
  }
}

/** Different names that are remembered. */
const mostKnown = 10_000

/** A slice of the line would keep all of it in memory, and a copy each is not needed of what is said often. */
function createCopies(): { of(envelope: Envelope): Record<'method' | 'subject' | 'id', string | undefined> } {
  const known = new Map<string, string>()
  function kept(text: string | undefined): string | undefined {
    if (text === undefined) return undefined
    const before = known.get(text)
    if (before !== undefined) return before
    const copy = detach(text)
    if (known.size < mostKnown) known.set(copy, copy)
    return copy
  }
  return {
    of: ({ method, subject, id }) => ({
      method: kept(method),
      subject: kept(subject),
      id: id === undefined ? undefined : detach(id),
    }),
  }
}
