import { randomInt } from 'node:crypto'
import { MessageIds, type Correlator, type Direction, type PlainId, type Relations } from '../model/index.js'
import type { Redactor } from '../redaction/index.js'
import type { MessageLine } from '../tape/index.js'
import { numberAt, PlainMessage } from '../wire/index.js'
import type { Stamp } from './stamp.js'
import type { Numbers } from './message-numbers.js'

const LF = 0x0a
const QUOTE = 0x22
/** Longer messages are read the long way: its native searches go through 100 kB faster than a loop over bytes. */
const longestPlain = 16 * 1024
/** Of an id, a method or a name: they become texts that are remembered. */
const longestRemembered = 200

/** How a recorder names a message: by its place where no text of its id was made, else by that. */
export type Ref = number | string

/** Takes a plain message; its line is good until the next one. */
export type TakeLine = (line: MessageLine, ids: MessageIds) => void

/** The lines that one channel brought in a batch, one after the other. */
export class BatchLines {
  readonly message = new PlainMessage()
  readonly #redactor: Redactor
  #bytes: Buffer = Buffer.alloc(0)
  /** Stream offset of the batch's first byte. */
  #offset = 0
  /** Index after the last line feed. */
  #whole = 0
  /** Index of the line's first byte, and after its line feed: 0 while it has not been looked for. */
  start = 0
  end = 0
  /** The line is a message that `message` describes, with nothing to redact in it. */
  isPlain = false

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  begin(bytes: Buffer, offset: number): void {
    this.#bytes = bytes
    this.#offset = offset
    this.#whole = bytes.lastIndexOf(LF) + 1
    this.start = 0
    this.end = 0
  }

  /** The bytes of the batch, which stay good until the next one begins. */
  get bytes(): Buffer {
    return this.#bytes
  }

  /** Stream offset after the line. */
  get endOffset(): number {
    return this.#offset + this.end
  }

  /** Finds the end of the line. What has no line feed ends with the batch. @param mayBePlain it begins here, and nobody judged it */
  look(mayBePlain: boolean): void {
    if (this.end > 0) return
    const { start } = this
    this.isPlain = false
    if (start >= this.#whole) {
      this.end = this.#bytes.length
      return
    }
    this.end = this.#bytes.indexOf(LF, start) + 1
    if (!mayBePlain || this.end - start > longestPlain) return
    this.isPlain =
      this.message.read(this.#bytes, start) === this.end &&
      this.#isUsual() &&
      this.#redactor.isClean(this.#bytes, start, this.end - 1)
  }

  #isUsual(): boolean {
    const { idStart, idEnd, methodStart, methodEnd, subjectStart, subjectEnd } = this.message
    return Math.max(idEnd - idStart, methodEnd - methodStart, subjectEnd - subjectStart) <= longestRemembered
  }

  next(): void {
    this.start = this.end
    this.end = 0
  }
}

/**
 * The short way of a message onto the tape: plain in shape, whole in its batch, nothing suspicious in it. Its line is its
 * own bytes between others; no record, envelope or text of it is made. The long way gives the same line.
 */
export class PlainMessages {
  readonly ids = new MessageIds(Uint32Array.from({ length: 4 }, () => randomInt(2 ** 32)))
  /** Of the next message. */
  #place = 0
  readonly #correlator: Correlator<Ref>
  readonly #numbers: Numbers
  readonly #method = new LastText()
  readonly #subject = new LastText()
  /** Used again for each message. */
  readonly #line: MessageLine = {
    t: '',
    direction: 'client_to_server',
    us: 0,
    seq: 0,
    bytes: new Uint8Array(0),
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

  idOf(ref: Ref): string {
    return typeof ref === 'string' ? ref : this.ids.textOf(ref)
  }

  /** The same relations for a record. */
  withIds({ answers, late, duplicateOf, links }: Relations<Ref>): Relations<string> {
    return {
      ...(answers !== undefined && { answers: this.idOf(answers) }),
      ...(late && { late }),
      ...(duplicateOf !== undefined && { duplicateOf: this.idOf(duplicateOf) }),
      links: links.map(({ kind, to }) => ({ kind, to: this.idOf(to) })),
    }
  }

  /** The line of a message, good until the next one. */
  lineOf({ bytes, message, start, end }: BatchLines, direction: Direction, { t, us }: Stamp): MessageLine {
    const line = this.#line
    const id = this.#place++
    line.t = t
    line.us = us
    line.direction = direction
    line.seq = this.#numbers.next
    line.bytes = bytes
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

/** As `idKey` makes it, but digits are a number. */
function idOf(bytes: Buffer, { idStart, idEnd }: PlainMessage): PlainId {
  if (bytes[idStart] !== QUOTE) return numberAt(bytes, idStart, idEnd)
  return `"${bytes.toString('latin1', idStart + 1, idEnd - 1)}`
}

/** ASCII that is mostly the same as last time: then it is the same text, and none is made. */
class LastText {
  #text = ''

  of(bytes: Buffer, start: number, end: number): string {
    const text = this.#text
    let same = text.length === end - start
    for (let i = 0; same && i < text.length; i += 1) same = text.charCodeAt(i) === bytes[start + i]
    return same ? text : (this.#text = bytes.toString('latin1', start, end))
  }
}
