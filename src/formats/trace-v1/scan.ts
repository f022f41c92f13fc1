import { utf8Length, type Report } from '../../model/index.js'
import { LineFramer } from '../../wire/index.js'
import { decodeLine, type DecodedLine } from './decode.js'
import { PlainLine } from './plain-line.js'
import type { PlainLines } from './plain-lines.js'
import { quickLine } from './quick-line.js'
import { readPlainLine } from './read-plain-line.js'
import { createLineReader, longestLine, type TraceLine, type LineReader } from './read.js'

const LF = 0x0a
const CR = 0x0d

/**
 * Takes a line without a record, as offsets in `bytes`. `line` and `bytes` are valid until it returns. False when the
 * record is needed.
 */
export type TakePlain = (bytes: Uint8Array, line: PlainLine, offset: number, sizeBytes: number) => boolean

/** Settings of a scan. */
export interface ScanOptions {
  /** A chunk is valid only until the next one is pushed. */
  readonly borrowed?: boolean
  /** Records are complete. Otherwise they lack data that only content reveals. */
  readonly whole?: boolean
  /** `TakePlain` gets also lines without an id, a number or a time. */
  readonly nameless?: boolean
}

/** Bytes of a tape in, its lines out. */
export class TraceScan {
  readonly #takePlain: TakePlain | undefined
  readonly #framer: LineFramer
  readonly #reader: LineReader
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  readonly #plain = new PlainLine()
  readonly #nameless: boolean
  #atStart = true

  /**
   * The fast reader of a tape, for an index: a chunk is decoded as a whole and lines are read by `quickLine`, so
   * records lack data that only content reveals. Unusual lines use the normal reader; most lines need no record if
   * there is `takePlain`.
   */
  constructor(
    report: Report,
    takePlain?: TakePlain,
    { borrowed = false, whole = false, nameless = false }: ScanOptions = {},
  ) {
    this.#takePlain = takePlain
    this.#nameless = nameless
    this.#framer = new LineFramer({ maxBytes: longestLine, borrowed })
    this.#reader = createLineReader(report, whole ? wholeLine : quickLine)
  }

  /**
   * Passes each line completed by `chunk` to `take`, in order. The chunk may be kept until its last line ends.
   *
   * @param lines plain lines of the chunk that were found already
   */
  push(chunk: Uint8Array, take: (line: TraceLine) => void, lines?: PlainLines): void {
    let start = 0
    // The first line may have a byte order mark, and a pending partial line comes first.
    if (this.#atStart || this.#framer.pendingBytes > 0) {
      const lf = chunk.indexOf(LF)
      start = lf < 0 ? chunk.length : lf + 1
      this.#pushFrames(chunk.subarray(0, start), take)
      if (lf >= 0) this.#atStart = false
    }
    const end = chunk.lastIndexOf(LF) + 1
    if (end > start) {
      if (this.#takePlain) this.#pushPlain(chunk.subarray(0, end), start, this.#takePlain, take, lines)
      else this.#pushWhole(chunk.subarray(start, end), take)
      start = end
    }
    this.#pushFrames(chunk.subarray(start), take)
  }

  /** End of input: a last line without line feed, and missing parts. */
  end(take: (line: TraceLine) => void): void {
    for (const frame of this.#framer.end()) {
      const line = this.#reader.take(frame)
      if (line) take(line)
    }
    this.#reader.close()
  }

  /** Position of the current line, in bytes; also valid while a problem is reported. */
  get place(): { readonly offset: number; readonly sizeBytes: number } {
    return this.#reader.place
  }

  #pushFrames(chunk: Uint8Array, take: (line: TraceLine) => void): void {
    for (const frame of this.#framer.push(chunk)) {
      const line = this.#reader.take(frame)
      if (line) take(line)
    }
  }

  /** Whole lines, while the framer is empty. False for invalid UTF-8. */
  #pushLines(bytes: Uint8Array, take: (line: TraceLine) => void): boolean {
    let text: string
    try {
      text = this.#utf8.decode(bytes)
    } catch {
      return false
    }
    const ascii = text.length === bytes.length
    let from = 0
    for (let lf = text.indexOf('\n'); lf >= 0; lf = text.indexOf('\n', from)) {
      const end = lf > from && text.charCodeAt(lf - 1) === CR ? lf - 1 : lf
      const lineText = text.slice(from, end)
      const sizeBytes = ascii ? lineText.length : utf8Length(lineText)
      const line = this.#reader.takeText(lineText, sizeBytes, lf + 1 - end)
      if (line) take(line)
      from = lf + 1
    }
    return true
  }

  /** As `pushLines` from `start` on, but plain lines go to `taken`; adjacent other lines go to `pushWhole` together. */
  #pushPlain(
    bytes: Uint8Array,
    start: number,
    taken: TakePlain,
    take: (line: TraceLine) => void,
    lines: PlainLines | undefined,
  ): void {
    let unusual = start
    let from = start
    while (from < bytes.length) {
      const lf = lines ? lines.read(from, this.#plain) : readPlainLine(bytes, from, this.#plain)
      if (lf < 0) {
        from = bytes.indexOf(LF, from) + 1
        continue
      }
      if (from > unusual) this.#pushWhole(bytes.subarray(unusual, from), take)
      unusual = from
      const mayTake = this.#reader.mayPass && (this.#nameless || this.#plain.isNamed)
      if (mayTake && taken(bytes, this.#plain, this.#reader.offset, lf - from)) {
        this.#reader.pass(lf - from)
        this.#framer.skip(lf + 1 - from)
        unusual = lf + 1
      }
      from = lf + 1
    }
    if (from > unusual) this.#pushWhole(bytes.subarray(unusual), take)
  }

  /** Whole lines, while the framer is empty. */
  #pushWhole(bytes: Uint8Array, take: (line: TraceLine) => void): void {
    if (this.#pushLines(bytes, take)) this.#framer.skip(bytes.length)
    else this.#pushFrames(bytes, take)
  }
}

function wholeLine(text: string, sizeBytes: number): DecodedLine {
  return decodeLine(text, { ascii: sizeBytes === text.length })
}
