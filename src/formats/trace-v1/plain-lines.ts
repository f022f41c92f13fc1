import { PlainLine } from './plain-line.js'
import type { PlainEncoder, ReadPlain } from './plain-form.js'

const kinds = ['request', 'notification', 'result', 'error'] as const
const flag = {
  fromServer: 1,
  late: 2,
  toolError: 4,
  redacted: 8,
  http: 16,
  sse: 32,
  frameEnd: 64,
  unusual: 128,
  isTelling: 256,
  isEntry: 512,
} as const
const kindShift = 10

/** Integers and other numbers per line. */
const [ints, numbers] = [30, 4]
const LF = 0x0a

/** Shared by threads. */
export interface PlainLineArrays {
  readonly ints: Int32Array<SharedArrayBuffer>
  readonly numbers: Float64Array<SharedArrayBuffer>
}

/** The plain lines of a chunk of a tape as numbers, so that one thread can find them for another one. */
export class PlainLines {
  readonly arrays: PlainLineArrays
  /** Messages in the form of the output, if they are known in it. */
  readonly encoded: Uint8Array | undefined
  #count: number
  #next = 0

  /** @param count lines in `arrays` */
  constructor(arrays: PlainLineArrays, count = 0, encoded?: Uint8Array) {
    this.arrays = arrays
    this.encoded = encoded
    this.#count = count
  }

  /** Arrays for the lines of a chunk. Lines that do not fit are not kept: they are read like unusual ones. */
  static arraysFor(chunkBytes: number): PlainLineArrays {
    const lines = chunkBytes >> 7
    return {
      ints: new Int32Array(new SharedArrayBuffer(lines * ints * Int32Array.BYTES_PER_ELEMENT)),
      numbers: new Float64Array(new SharedArrayBuffer(lines * numbers * Float64Array.BYTES_PER_ELEMENT)),
    }
  }

  get count(): number {
    return this.#count
  }

  /**
   * Finds the plain lines of a chunk, except one that ends after it.
   *
   * @param start of the first line to look at; by default, the second line of the chunk
   */
  find(chunk: Uint8Array, read: ReadPlain, encoder?: PlainEncoder, start = chunk.indexOf(LF) + 1): void {
    const line = new PlainLine()
    const bytes = chunk.subarray(0, chunk.lastIndexOf(LF) + 1)
    const most = this.arrays.numbers.length / numbers
    this.#count = 0
    for (let from = start; from < bytes.length && this.#count < most;) {
      const lf = read(bytes, from, line)
      if (lf >= 0) {
        encoder?.encode(line)
        this.#keep(line, from, lf)
      }
      from = (lf >= 0 ? lf : bytes.indexOf(LF, from)) + 1
    }
  }

  /** Like `readPlainLine` for the chunk, with ascending `start`. */
  read(start: number, line: PlainLine): number {
    const { ints: all } = this.arrays
    while (this.#next < this.#count && all[this.#next * ints]! < start) this.#next += 1
    if (this.#next >= this.#count || all[this.#next * ints] !== start) return -1
    this.#next += 1
    return this.readAgain(this.last, line)
  }

  /** Number of the line that `read` returned last. */
  get last(): number {
    return this.#next - 1
  }

  /** @returns the offset of its line feed */
  readAgain(number: number, line: PlainLine): number {
    const { ints: all, numbers: others } = this.arrays
    let at = number * ints
    const lf = all[at + 1]!
    const flags = all[at + 2]!
    line.kind = kinds[flags >> kindShift]!
    line.fromServer = (flags & flag.fromServer) !== 0
    line.late = (flags & flag.late) !== 0
    line.toolError = (flags & flag.toolError) !== 0
    line.redacted = (flags & flag.redacted) !== 0
    line.http = (flags & flag.http) !== 0
    line.sse = (flags & flag.sse) !== 0
    line.frameEnd = (flags & flag.frameEnd) !== 0
    line.unusual = (flags & flag.unusual) !== 0
    line.isTelling = (flags & flag.isTelling) !== 0
    line.isEntry = (flags & flag.isEntry) !== 0
    line.timeStart = all[at + 3]!
    line.timeEnd = all[at + 4]!
    line.rawStart = all[at + 5]!
    line.rawEnd = all[at + 6]!
    line.idStart = all[at + 7]!
    line.idEnd = all[at + 8]!
    line.corrStart = all[at + 9]!
    line.corrEnd = all[at + 10]!
    line.rpcIdStart = all[at + 11]!
    line.rpcIdEnd = all[at + 12]!
    line.methodStart = all[at + 13]!
    line.methodEnd = all[at + 14]!
    line.subjectStart = all[at + 15]!
    line.subjectEnd = all[at + 16]!
    line.argumentsStart = all[at + 17]!
    line.argumentsEnd = all[at + 18]!
    line.codeStart = all[at + 19]!
    line.codeEnd = all[at + 20]!
    line.messageStart = all[at + 21]!
    line.messageEnd = all[at + 22]!
    line.conversationStart = all[at + 23]!
    line.conversationEnd = all[at + 24]!
    line.tokenStart = all[at + 25]!
    line.tokenEnd = all[at + 26]!
    line.encodedStart = all[at + 27]!
    line.encodedEnd = all[at + 28]!
    line.openEnd = all[at + 29]!
    at = number * numbers
    line.seq = others[at]!
    line.us = others[at + 1]!
    line.httpStatus = others[at + 2]!
    line.httpExchange = others[at + 3]!
    return lf
  }

  #keep(line: PlainLine, start: number, lf: number): void {
    const { ints: all, numbers: others } = this.arrays
    let at = this.#count * ints
    all[at] = start
    all[at + 1] = lf
    all[at + 2] =
      (kinds.indexOf(line.kind) << kindShift) |
      (line.fromServer ? flag.fromServer : 0) |
      (line.late ? flag.late : 0) |
      (line.toolError ? flag.toolError : 0) |
      (line.redacted ? flag.redacted : 0) |
      (line.http ? flag.http : 0) |
      (line.sse ? flag.sse : 0) |
      (line.frameEnd ? flag.frameEnd : 0) |
      (line.unusual ? flag.unusual : 0) |
      (line.isTelling ? flag.isTelling : 0) |
      (line.isEntry ? flag.isEntry : 0)
    all[at + 3] = line.timeStart
    all[at + 4] = line.timeEnd
    all[at + 5] = line.rawStart
    all[at + 6] = line.rawEnd
    all[at + 7] = line.idStart
    all[at + 8] = line.idEnd
    all[at + 9] = line.corrStart
    all[at + 10] = line.corrEnd
    all[at + 11] = line.rpcIdStart
    all[at + 12] = line.rpcIdEnd
    all[at + 13] = line.methodStart
    all[at + 14] = line.methodEnd
    all[at + 15] = line.subjectStart
    all[at + 16] = line.subjectEnd
    all[at + 17] = line.argumentsStart
    all[at + 18] = line.argumentsEnd
    all[at + 19] = line.codeStart
    all[at + 20] = line.codeEnd
    all[at + 21] = line.messageStart
    all[at + 22] = line.messageEnd
    all[at + 23] = line.conversationStart
    all[at + 24] = line.conversationEnd
    all[at + 25] = line.tokenStart
    all[at + 26] = line.tokenEnd
    all[at + 27] = line.encodedStart
    all[at + 28] = line.encodedEnd
    all[at + 29] = line.openEnd
    at = this.#count * numbers
    others[at] = line.seq
    others[at + 1] = line.us
    others[at + 2] = line.httpStatus
    others[at + 3] = line.httpExchange
    this.#count += 1
  }
}
