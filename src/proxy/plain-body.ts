import type { MessageLine } from '../tape/index.js'
import type { PlainId } from '../model/index.js'
import type { Redactor } from '../redaction/index.js'
import { nowhere, messageMemory, PlainMessage, type PlainKind } from '../wire/index.js'
import { isUsual } from './batch-lines.js'
import { idOf, LastText } from './plain-frames.js'
import { bufferOf } from './region-pool.js'

const LF = 0x0a
/** Longer bodies take the general path: they would be copied once more here. */
const longestPlain = 16 * 1024

/** A body or event that is one message of the plain shape, for its line on the tape. Reused for each one. */
export class PlainBody {
  readonly #message = new PlainMessage()
  readonly #method = new LastText()
  readonly #subject = new LastText()
  /** A copy, because a line feed must follow the message. */
  readonly #bytes: Buffer
  readonly line: MessageLine = {
    t: '',
    direction: 'client_to_server',
    us: 0,
    seq: 0,
    bytes: new Uint8Array(0),
    address: nowhere,
    start: 0,
    end: 0,
    id: '',
    answers: undefined,
    late: false,
    duplicateOf: undefined,
  }

  constructor() {
    const room = messageMemory?.take(longestPlain + 1)
    this.#bytes = room ? bufferOf(room) : Buffer.alloc(longestPlain + 1)
    this.line.bytes = this.#bytes
    this.line.address = room?.byteOffset ?? nowhere
  }

  /** False unless the bytes are exactly one such message, without anything to redact. */
  read(bytes: Uint8Array, redactor: Redactor): boolean {
    const { length } = bytes
    if (length > longestPlain) return false
    this.#bytes.set(bytes)
    this.#bytes[length] = LF
    this.line.end = length
    return (
      this.#message.read(this.#bytes, 0, this.line.address) === length + 1 &&
      isUsual(this.#message) &&
      redactor.isClean(this.#bytes, 0, length, this.line.address)
    )
  }

  get kind(): PlainKind {
    return this.#message.kind
  }

  /** Of a request or a result. */
  get id(): PlainId {
    return idOf(this.#bytes, this.#message)
  }

  /** Of a request. */
  get method(): string {
    const { methodStart, methodEnd } = this.#message
    return this.#method.of(this.#bytes, methodStart, methodEnd)
  }

  get subject(): string | null {
    const { subjectStart, subjectEnd } = this.#message
    return subjectEnd === 0 ? null : this.#subject.of(this.#bytes, subjectStart, subjectEnd)
  }
}
