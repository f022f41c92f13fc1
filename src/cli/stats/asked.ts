import type { MessageRecord, Part } from '../../model/index.js'
import type { PlainRow } from '../quick-load.js'
import { addToKey, beginKey, endKey, type CallKey } from './earlier-calls.js'

/** A request of a client. */
export interface Asked {
  readonly method: string
  readonly subject: string
  /** Wall clock from the tape. */
  t(): string
  conversation(): string
  /** Equal for repeated calls. */
  key(): CallKey
}

export function askedIn({ t, conversation = '' }: MessageRecord, { envelope }: Part): Asked {
  const { method = '', subject = '', argumentsText = '' } = envelope
  const key = (): CallKey => {
    beginKey()
    for (const text of [conversation, subject, argumentsText]) {
      const bytes = utf8.encode(text)
      addToKey(bytes, 0, bytes.length)
    }
    return endKey()
  }
  return { method, subject, t: () => t, conversation: () => conversation, key }
}

export class PlainAsked implements Asked {
  readonly method: string
  readonly subject: string
  readonly #message: PlainRow

  constructor(message: PlainRow) {
    this.method = message.method
    this.subject = message.subject
    this.#message = message
  }

  t(): string {
    const { bytes, line } = this.#message
    return textAt(bytes, line.timeStart, line.timeEnd)
  }

  conversation(): string {
    return this.#message.conversation
  }

  key(): CallKey {
    const { bytes, line } = this.#message
    beginKey()
    addToKey(bytes, line.conversationStart, line.conversationEnd)
    addToKey(bytes, line.subjectStart, line.subjectEnd)
    addToKey(bytes, line.argumentsStart, line.argumentsEnd)
    return endKey()
  }
}

const utf8 = new TextEncoder()

export function rawOf({ bytes, line: { rawStart, rawEnd } }: PlainRow): string {
  return textAt(bytes, rawStart, rawEnd)
}

function textAt({ buffer, byteOffset }: Uint8Array, start: number, end: number): string {
  return Buffer.from(buffer, byteOffset + start, end - start).toString()
}
