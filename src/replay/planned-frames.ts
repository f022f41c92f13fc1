import type { RecordingIndex } from '../compare/index.js'
import {
  createIntColumn,
  detach,
  isAnswer,
  type Draft,
  type Envelope,
  type MessageRecord,
} from '../model/index.js'

/** One message of the client. */
export interface PlannedMessage {
  /** Position among the messages of the client, from 0. */
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
  /** Row of a request's response, or of a response's request; -1 for none. */
  readonly peer: number
  /** No response is expected: the request was cancelled, or stays open by design. */
  readonly loose: boolean
}

/** A frame sent by the client: one message, or a batch. */
export interface PlannedFrame {
  /** Position among the frames of the client, from 0. */
  readonly number: number
  readonly locator: number
  /** Row of its first message. */
  readonly row: number
  /** Time of sending: microseconds since the session began. */
  readonly us: number
  readonly connection: string
  /** `index` of its first message, and the number of messages. */
  readonly firstIndex: number
  readonly count: number
}

/** Frames of the client, in order. They are not stored as objects; each is made on demand. */
export interface PlannedFrames extends Iterable<PlannedFrame> {
  readonly length: number
  /** Number of messages in all frames. */
  readonly messages: number
  at(number: number): PlannedFrame | undefined
  /** @param record of the frame */
  messagesOf(frame: PlannedFrame, record: MessageRecord): PlannedMessage[]
  /**
   * The client's response to a request of the server; undefined when it is not replayed.
   *
   * @param record that contains the row
   */
  answerIn(row: number, record: MessageRecord): PlannedMessage | undefined
}

export interface FramesDraft {
  /** @param parts of the record that are sent; undefined for all */
  add(frame: Pick<PlannedFrame, 'row' | 'connection' | 'count'>, parts?: readonly number[]): void
  /** Call once. */
  finish(): PlannedFrames
}

export function createPlannedFrames(index: RecordingIndex): FramesDraft {
  const { entries } = index
  const rows = createIntColumn()
  const connections = createIntColumn()
  /** `index` of the first message of each frame. */
  const firsts = createIntColumn()
  const names: string[] = []
  const numbers = new Map<string, number>()
  /** Parts of frames that are sent only in part. */
  const partial = new Map<number, readonly number[]>()
  /** Frames by the rows of responses to requests of the server. */
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

/** Number of different names that are remembered. */
const mostKnown = 10_000

/** Copies, since a slice would keep the whole line in memory; frequent texts share one copy. */
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
