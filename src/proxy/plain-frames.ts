import type { Correlator, Direction, MessageIds, PlainId } from '../model/index.js'
import type { MessageLine } from '../tape/index.js'
import { nowhere, numberAt, type PlainMessage } from '../wire/index.js'
import type { BatchLines } from './batch-lines.js'
import type { Stamp } from './stamp.js'
import type { Numbers } from './message-numbers.js'
import { MessageRefs, type Ref } from './message-refs.js'

const QUOTE = 0x22
/** Takes plain messages. An object and not a closure, for speed: the engine compiles closures one by one. */
export interface LineTaker {
  /** The line is valid until the next one. */
  addPlain(line: MessageLine, ids: MessageIds): void
}

/**
 * The fast path of a message onto the tape, for a plain message that needs no redaction.
 * Its line on the tape contains its own bytes; no record, envelope or text is created. The general path produces the
 * same line.
 */
export class PlainMessages {
  readonly refs = new MessageRefs()
  readonly #correlator: Correlator<Ref>
  readonly #numbers: Numbers
  readonly #method = new LastText()
  readonly #subject = new LastText()
  /** Reused for each message. */
  readonly #line: MessageLine = {
    t: '',
    direction: 'client_to_server',
    us: 0,
    seq: 0,
    bytes: new Uint8Array(0),
    address: nowhere,
    start: 0,
    end: 0,
    id: 0,
    answers: undefined,
    late: false,
    duplicateOf: undefined,
  }

  constructor(correlator: Correlator<Ref>, numbers: Numbers) {
    this.#correlator = correlator
    this.#numbers = numbers
  }

  /** The line of a message. Valid until the next one. */
  lineOf(
    { bytes, address, message, start, end }: BatchLines,
    direction: Direction,
    { t, us }: Stamp,
  ): MessageLine {
    const line = this.#line
    const id = this.refs.next()
    line.t = t
    line.us = us
    line.direction = direction
    line.seq = this.#numbers.next
    line.bytes = bytes
    line.address = address
    line.start = start
    line.end = end - 1
    line.id = id
    line.answers = undefined
    line.late = false
    line.duplicateOf = undefined
    this.#numbers.next += 1
    if (message.kind === 'request') {
      const method = this.#method.of(bytes, message.methodStart, message.methodEnd)
      const subject =
        message.subjectEnd === 0 ? null : this.#subject.of(bytes, message.subjectStart, message.subjectEnd)
      line.duplicateOf = this.#correlator.observePlainRequest(
        direction,
        idOf(bytes, message),
        id,
        method,
        subject,
      )
    } else if (message.kind === 'result') {
      const { answers, late } = this.#correlator.observePlainResult(direction, idOf(bytes, message))
      line.answers = answers
      line.late = late === true
    }
    return line
  }
}

/** The id of a plain message, as `plainId` returns it. */
export function idOf(bytes: Buffer, { idStart, idEnd }: PlainMessage): PlainId {
  if (bytes[idStart] !== QUOTE) return numberAt(bytes, idStart, idEnd)
  return `"${bytes.toString('latin1', idStart + 1, idEnd - 1)}`
}

/** ASCII text that mostly repeats. An equal text is reused instead of created again. */
export class LastText {
  #text = ''

  of(bytes: Buffer, start: number, end: number): string {
    const text = this.#text
    let same = text.length === end - start
    for (let i = 0; same && i < text.length; i += 1) same = text.charCodeAt(i) === bytes[start + i]
    return same ? text : (this.#text = bytes.toString('latin1', start, end))
  }
}
