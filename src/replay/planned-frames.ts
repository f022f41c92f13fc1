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
export class PlannedFrames implements Iterable<PlannedFrame> {
  /** Number of messages in all frames. */
  messages = 0
  readonly #index: RecordingIndex
  readonly #rows = createIntColumn()
  readonly #connections = createIntColumn()
  /** `index` of the first message of each frame. */
  readonly #firsts = createIntColumn()
  readonly #names: string[] = []
  readonly #numbers = new Map<string, number>()
  /** Parts of frames that are sent only in part. */
  readonly #partial = new Map<number, readonly number[]>()
  /** Frames by the rows of responses to requests of the server. */
  readonly #answers = new Map<number, number>()
  readonly #copies = createCopies()

  constructor(index: RecordingIndex) {
    this.#index = index
  }

  /** @param parts of the record that are sent; undefined for all */
  add(
    { row, connection, count }: Pick<PlannedFrame, 'row' | 'connection' | 'count'>,
    parts?: readonly number[],
  ): void {
    const { entries } = this.#index
    const number = this.length
    if (parts) this.#partial.set(number, parts)
    for (let i = 0; i < count; i += 1) {
      const at = row + (parts ? parts[i]! : i)
      const kind = entries.kind(at)
      if ((kind === 'result' || kind === 'error') && entries.peer(at) >= 0) this.#answers.set(at, number)
    }
    this.#rows.push(row)
    this.#connections.push(this.#connectionNumber(connection))
    this.#firsts.push(this.messages)
    this.messages += count
  }

  get length(): number {
    return this.#rows.length
  }

  at(number: number): PlannedFrame | undefined {
    if (number < 0 || number >= this.length) return undefined
    const row = this.#rows.get(number)
    const firstIndex = this.#firsts.get(number)
    const end = number + 1 < this.length ? this.#firsts.get(number + 1) : this.messages
    return {
      number,
      locator: this.#index.place(row).locator,
      row,
      us: this.#index.entries.us(row),
      connection: this.#names[this.#connections.get(number)]!,
      firstIndex,
      count: end - firstIndex,
    }
  }

  *[Symbol.iterator](): Generator<PlannedFrame, void, undefined> {
    for (let number = 0; number < this.length; number += 1) yield this.at(number)!
  }

  /** @param record of the frame */
  messagesOf(
    { number, row: first, firstIndex, count }: PlannedFrame,
    { parts }: MessageRecord,
  ): PlannedMessage[] {
    const { entries } = this.#index
    const chosen = this.#partial.get(number)
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
      const { method, subject, id } = this.#copies.of(envelope)
      if (method !== undefined) message.method = method
      if (subject !== undefined) message.name = subject
      if (id !== undefined) message.id = id
      planned.push(message)
    }
    return planned
  }

  /**
   * The client's response to a request of the server; undefined when it is not replayed.
   *
   * @param record that contains the row
   */
  answerIn(row: number, record: MessageRecord): PlannedMessage | undefined {
    const number = this.#answers.get(row)
    const frame = number === undefined ? undefined : this.at(number)
    return frame && this.messagesOf(frame, record).find((message) => message.row === row)
  }

  #connectionNumber(name: string): number {
    let number = this.#numbers.get(name)
    if (number === undefined) {
      number = this.#names.push(name) - 1
      this.#numbers.set(name, number)
    }
    return number
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
