import {
  encodeMessageAround,
  encodeRecord,
  lineEnd,
  type MessageLine,
  MessageLineEncoder,
  type MessagePlace,
  mostPlaceBytes,
  PlaceEncoder,
  encodeMessageTail,
} from '../formats/index.js'
import type { MessageIds, MessageRecord, TapeRecord } from '../model/index.js'
import { nowhere, messageMemory } from '../wire/index.js'
import { createErrorCounter } from './count-errors.js'
import { amountOf, nothing, type Tally } from './amount.js'

/** Memory kept while the buffer is empty. */
const keptBytes = 1024 * 1024
/** Enough for the lines of one write and one more, of a plain message. */
const roomBytes = 2 * keptBytes + 64 * 1024
/** Texts of at least this length are copied directly instead of being joined into a line first. */
const longText = 1024
const factSize = 7
/** A buffer has seldom more. Growing makes the engine discard the code of `#ended`. */
const usualLines = 8_192

/**
 * Lines that are written together, in reused memory: the main cost of a tape is copying bytes more often than
 * necessary.
 */
export class LineBuffer {
  readonly #strict: boolean
  readonly #errorsIn = createErrorCounter()
  /** Where lines of plain messages are written fastest. */
  readonly #room = roomInMemory()
  readonly #roomAddress = this.#room?.byteOffset ?? nowhere
  #bytes = this.#room ?? Buffer.allocUnsafeSlow(65_536)
  /** End of each line. Integers: with other numbers, the engine would compile all code for sizes a second time. */
  #ends = new Uint32Array(usualLines)
  #count = 0
  /**
   * Contents of each line, `factSize` numbers per line: messages, gaps, lost, the amount's messages, stderr and bytes,
   * and errors. The records are not kept: they would outlive the nursery of the garbage collector.
   */
  #facts = new Float64Array(usualLines * factSize)
  /** Sums of the facts. A loop over all lines would be compiled while it runs, and again with what it is in. */
  readonly #sums = new Float64Array(factSize)
  #sizeBytes = 0
  readonly #encoder = new MessageLineEncoder()
  readonly #places = new PlaceEncoder()

  constructor(strict: boolean) {
    this.#strict = strict
  }

  /** Lines in the buffer. */
  get count(): number {
    return this.#count
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Adds the line of a record. A RangeError (line too long for a string) leaves the buffer unchanged. */
  add(record: TapeRecord): void {
    const before = this.#sizeBytes
    try {
      this.#encode(record)
    } catch (error) {
      this.#sizeBytes = before
      throw error
    }
    this.#note(record)
  }

  /** Adds the line of a plain message. @param place of a message of HTTP */
  addPlain(line: MessageLine, ids: MessageIds, place?: MessagePlace): void {
    this.#makeRoom(this.#encoder.mostBytes(line) + (place ? mostPlaceBytes : 0))
    const address = this.#bytes === this.#room ? this.#roomAddress : nowhere
    this.#sizeBytes = this.#encoder.write(line, ids, this.#bytes, this.#sizeBytes, address)
    if (place) this.#putPlace(place)
    this.#ended(1, 0, 0, 1, 0, line.end - line.start, 0)
  }

  #putPlace(place: MessagePlace): void {
    this.#sizeBytes -= lineEnd.length
    const end = this.#places.write(place, this.#bytes, this.#sizeBytes)
    if (end >= 0) this.#sizeBytes = end
    else this.#write(encodeMessageTail(recordAt(place)))
  }

  #encode(record: TapeRecord): void {
    if (record.type === 'message' && record.raw.length >= longText) {
      const { head, tail } = encodeMessageAround(record, { strict: this.#strict })
      this.#write(head)
      if (record.utf8) this.#copy(record.utf8)
      else this.#write(record.raw)
      this.#write(tail)
    } else {
      this.#write(encodeRecord(record, { strict: this.#strict }))
    }
  }

  #note(record: TapeRecord): void {
    const parts = record.type === 'message' ? record.parts.length : 0
    const isGap = record.type === 'gap'
    // The strict form omits some records; they do not count as missing.
    const counts = !this.#strict || record.type === 'message' || isGap
    const { messages, stderr, bytes } = counts ? amountOf(record) : nothing
    // The strict form omits responses to injected requests.
    const errors = this.#strict && record.type !== 'message' ? 0 : this.#errorsIn(record)
    this.#ended(parts, isGap ? 1 : 0, isGap ? record.lost : 0, messages, stderr, bytes, errors)
  }

  /** Ends a line; the numbers are its facts. */
  #ended(
    parts: number,
    gaps: number,
    lost: number,
    messages: number,
    stderr: number,
    bytes: number,
    errors: number,
  ): void {
    if (this.#count === this.#ends.length) {
      const [ends, facts] = [this.#ends, this.#facts]
      this.#ends = new Uint32Array(2 * ends.length)
      this.#ends.set(ends)
      this.#facts = new Float64Array(2 * facts.length)
      this.#facts.set(facts)
    }
    const facts = this.#facts
    const at = this.#count * factSize
    facts[at] = parts
    facts[at + 1] = gaps
    facts[at + 2] = lost
    facts[at + 3] = messages
    facts[at + 4] = stderr
    facts[at + 5] = bytes
    facts[at + 6] = errors
    const sums = this.#sums
    sums[0]! += parts
    sums[1]! += gaps
    sums[2]! += lost
    sums[3]! += messages
    sums[4]! += stderr
    sums[5]! += bytes
    sums[6]! += errors
    this.#ends[this.#count] = this.#sizeBytes
    this.#count += 1
  }

  /** The bytes of the first `count` lines, valid until the next call. */
  bytesOf(count: number): Uint8Array {
    return this.#bytes.subarray(0, count === 0 ? 0 : this.#ends[count - 1])
  }

  /** Number of whole lines in the first `sizeBytes`. */
  countIn(sizeBytes: number): number {
    let count = 0
    while (count < this.#count && this.#ends[count]! <= sizeBytes) count += 1
    return count
  }

  /** Removes the first `count` lines and returns their contents. */
  take(count = this.count): Tally {
    const start = count === 0 ? 0 : this.#ends[count - 1]!
    const taken = this.#tally(count)
    if (count > 0 && count < this.#count) {
      this.#bytes.copyWithin(0, start, this.#sizeBytes)
      this.#ends.set(this.#ends.slice(count, this.#count).map((end) => end - start))
      this.#facts.copyWithin(0, count * factSize, this.#count * factSize)
    }
    this.#count -= count
    this.#sizeBytes -= start
    if (this.#sizeBytes === 0 && this.#bytes.length > (this.#room ?? { length: keptBytes }).length)
      this.#bytes = this.#room ?? Buffer.allocUnsafeSlow(keptBytes)
    return taken
  }

  /** Contents of the first `count` lines, which leave the sums. Usually, few lines remain. */
  #tally(count: number): Tally {
    const rest = new Float64Array(factSize)
    for (let at = count * factSize; at < this.#count * factSize; at += 1)
      rest[at % factSize]! += this.#facts[at]!
    const fact = (index: number): number => this.#sums[index]! - rest[index]!
    const amount = { messages: fact(3), stderr: fact(4), bytes: fact(5) }
    const tally = { records: count, messages: fact(0), gaps: fact(1), lost: fact(2), amount, errors: fact(6) }
    this.#sums.set(rest)
    return tally
  }

  #write(text: string): void {
    // A UTF-16 unit needs at most three bytes in UTF-8.
    this.#makeRoom(text.length * 3 <= keptBytes ? text.length * 3 : Buffer.byteLength(text))
    this.#sizeBytes += this.#bytes.write(text, this.#sizeBytes)
  }

  #copy(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length)
    this.#bytes.set(bytes, this.#sizeBytes)
    this.#sizeBytes += bytes.length
  }

  #makeRoom(moreBytes: number): void {
    const wanted = this.#sizeBytes + moreBytes
    if (wanted <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(wanted, this.#bytes.length * 2))
    larger.set(this.#bytes.subarray(0, this.#sizeBytes))
    this.#bytes = larger
  }
}

function roomInMemory(): Buffer<ArrayBuffer> | undefined {
  const room = messageMemory?.take(roomBytes)
  return room && Buffer.from(room.buffer, room.byteOffset, room.length)
}

/** A record whose line ends with the members of a place. */
function recordAt({ conversation, http, sse }: MessagePlace): MessageRecord {
  const parts = [{ envelope: { kind: 'invalid' }, start: 0, end: 0 }] as const
  const record = {
    type: 'message',
    t: '',
    direction: 'client_to_server',
    raw: '',
    batch: false,
    parts,
  } as const
  return { ...record, conversation, http, ...(sse && { sse }) }
}
