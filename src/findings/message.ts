import {
  detach,
  isAnswer,
  type Direction,
  type HeldRecord,
  type HttpHeaders,
  type MessageRecord,
  type Part,
} from '../model/index.js'
import type { Json } from './json.js'
import { at } from './json.js'

/** The value of a header of the HTTP request or response that brought a message. @param name in small letters */
export function headerOf(message: Message, name: string): string | undefined {
  return valueOfHeader(message.record.http?.headers, name)
}

/** @param wanted in small letters */
export function valueOfHeader(headers: HttpHeaders | undefined, wanted: string): string | undefined {
  return headers?.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

/** A request as its answer wants it back. */
export class Asked {
  readonly row: number
  readonly method: string
  /** The tool, prompt or resource that it is about. */
  readonly subject: string | undefined
  readonly fromServer: boolean
  readonly #text: string | undefined

  /** @param isAskedFor whether a rule about the answer wants its parameters */
  constructor({ row, fromServer, part, text }: Message, isAskedFor: boolean) {
    const { method = '', subject } = part.envelope
    this.row = row
    this.fromServer = fromServer
    this.method = detach(method)
    this.subject = subject === undefined ? undefined : detach(subject)
    if (isAskedFor && text.length <= longestKept) this.#text = detach(text)
  }

  get size(): number {
    return this.#text?.length ?? 0
  }

  /** Undefined for one that was too long to keep, and of methods that no rule asks about. */
  get params(): Json | undefined {
    return this.#text === undefined ? undefined : at(JSON.parse(this.#text) as Json, 'params')
  }
}

const longestKept = 64 * 1024

/** Characters of a message that is parsed; a longer one is a finding of its own. */
const longestParsed = 32 << 20

/** A message as rules see it. Its value is made when a rule asks for it. */
export class Message {
  readonly row: number
  readonly seq: number
  readonly record: MessageRecord | HeldRecord
  readonly part: Part
  /** Of an answer: its request, unless it is not known or long ago. */
  readonly asked: Asked | undefined
  readonly isAnswer: boolean
  #value: Json | undefined
  #isParsed = false

  constructor(
    record: MessageRecord | HeldRecord,
    part: Part,
    place: { readonly row: number; readonly seq: number; readonly asked: Asked | undefined },
  ) {
    this.record = record
    this.part = part
    this.row = place.row
    this.seq = place.seq
    this.asked = place.asked
    this.isAnswer = isAnswer(part.envelope)
  }

  get direction(): Direction {
    return this.record.direction
  }

  get fromServer(): boolean {
    return this.record.direction === 'server_to_client'
  }

  /** Of a request or notification its own, of an answer that of its request. */
  get method(): string {
    return this.part.envelope.method ?? this.asked?.method ?? ''
  }

  /** Whether it is an answer to a request of this method. */
  answers(method: string): boolean {
    return this.isAnswer && this.asked?.method === method
  }

  /** Whether it is a request or a notification of this method. */
  asks(method: string): boolean {
    return !this.isAnswer && this.part.envelope.method === method
  }

  /** The tool that is called, also of the call's answer. */
  get tool(): string | undefined {
    if (this.method !== 'tools/call') return undefined
    return this.isAnswer ? this.asked?.subject : this.part.envelope.subject
  }

  /** Its exact text. */
  get text(): string {
    const { raw } = this.record
    return this.record.batch ? raw.slice(this.part.start, this.part.end) : raw
  }

  /** Every character of its text is a byte. */
  get isAscii(): boolean {
    const { start, end, sizeBytes } = this.part
    return sizeBytes === end - start
  }

  get value(): Json | undefined {
    if (this.#isParsed) return this.#value
    this.#isParsed = true
    const { value, batch } = this.record
    if (value !== undefined && !batch) return (this.#value = value as Json)
    const length = this.part.end - this.part.start
    if (this.part.envelope.kind !== 'invalid' && length <= longestParsed) {
      try {
        this.#value = JSON.parse(this.text) as Json
      } catch {
        // The recorder checked it, so this is nesting beyond what the engine reads.
      }
    }
    return this.#value
  }

  get params(): Json | undefined {
    return at(this.value, 'params')
  }

  get result(): Json | undefined {
    return at(this.value, 'result')
  }

  /** Whether a value was taken out at this JSON Pointer or below it. */
  isRedactedAt(pointer: string): boolean {
    const { red } = this.record
    if (red === undefined) return false
    return red.some((mark) => {
      const place = this.record.batch ? mark.at.replace(/^\/\d+/, '') : mark.at
      return place === pointer || place.startsWith(`${pointer}/`) || pointer.startsWith(`${place}/`)
    })
  }
}
