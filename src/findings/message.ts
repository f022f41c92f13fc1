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

/** A header of the HTTP request or response that carried a message. @param name in lower case */
export function headerOf(message: Message, name: string): string | undefined {
  return valueOfHeader(message.record.http?.headers, name)
}

/** @param wanted in lower case */
export function valueOfHeader(headers: HttpHeaders | undefined, wanted: string): string | undefined {
  return headers?.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

/** The parts of a request that its response needs. */
export class Asked {
  readonly row: number
  readonly method: string
  /** The tool, prompt or resource of the request. */
  readonly subject: string | undefined
  readonly fromServer: boolean
  readonly #text: string | undefined

  /** @param isAskedFor whether a rule on the response needs its parameters */
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

  /** Undefined if too long to keep, or of a method that no rule needs. */
  get params(): Json | undefined {
    return this.#text === undefined ? undefined : at(JSON.parse(this.#text) as Json, 'params')
  }
}

const longestKept = 64 * 1024

/** Limit of parsed characters; a longer message is a finding of its own. */
const longestParsed = 32 << 20

/** A message as rules see it. Its value is parsed on demand. */
export class Message {
  readonly row: number
  readonly seq: number
  readonly record: MessageRecord | HeldRecord
  readonly part: Part
  /** For a response: its request, unless unknown or too old. */
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

  /** Its own method, or for a response that of its request. */
  get method(): string {
    return this.part.envelope.method ?? this.asked?.method ?? ''
  }

  /** Whether it is a response to a request of this method. */
  answers(method: string): boolean {
    return this.isAnswer && this.asked?.method === method
  }

  /** Whether it is a request or a notification of this method. */
  asks(method: string): boolean {
    return !this.isAnswer && this.part.envelope.method === method
  }

  /** The called tool, of a call or its response. */
  get tool(): string | undefined {
    if (this.method !== 'tools/call') return undefined
    return this.isAnswer ? this.asked?.subject : this.part.envelope.subject
  }

  /** Its exact text. */
  get text(): string {
    const { raw } = this.record
    return this.record.batch ? raw.slice(this.part.start, this.part.end) : raw
  }

  /** Whether every character of its text is one byte. */
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
        // The recorder validated it, so it is nested too deep for the engine's parser.
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

  /** Whether a value at or below this JSON Pointer is redacted. */
  isRedactedAt(pointer: string): boolean {
    const { red } = this.record
    if (red === undefined) return false
    return red.some((mark) => {
      const place = this.record.batch ? mark.at.replace(/^\/\d+/, '') : mark.at
      return place === pointer || place.startsWith(`${pointer}/`) || pointer.startsWith(`${place}/`)
    })
  }
}
