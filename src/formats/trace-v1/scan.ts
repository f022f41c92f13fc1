import { utf8Length, type Report } from '../../model/index.js'
import type { LineFrame } from '../../wire/index.js'
import { decodeLine, type DecodedLine } from './decode.js'
import type { PlainLine } from './plain-line.js'
import type { PlainLines } from './plain-lines.js'
import { PlainScan } from './plain-scan.js'
import { quickLine } from './quick-line.js'
import { readPlainLine } from './read-plain-line.js'
import { createLineReader, longestLine, type TraceLine, type LineReader } from './read.js'

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
  readonly #reader: LineReader
  readonly #scan: PlainScan
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #take: (line: TraceLine) => void = () => undefined

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
    const reader = createLineReader(report, whole ? wholeLine : quickLine)
    this.#reader = reader
    this.#scan = new PlainScan(
      takePlain ? readPlainLine : () => -1,
      {
        plain: (bytes, line, start, lf) => {
          const mayTake = reader.mayPass && (nameless || line.isNamed)
          if (!mayTake || !takePlain?.(bytes, line, reader.offset, lf - start)) return false
          reader.pass(lf - start)
          return true
        },
        frames: (frames) => this.#takeFrames(frames),
        whole: (bytes) => this.#takeLines(bytes),
      },
      { maxBytes: longestLine, borrowed },
    )
  }

  /**
   * Passes each line completed by `chunk` to `take`, in order. The chunk may be kept until its last line ends.
   *
   * @param lines plain lines of the chunk that were found already
   */
  push(chunk: Uint8Array, take: (line: TraceLine) => void, lines?: PlainLines): void {
    this.#take = take
    this.#scan.push(chunk, lines)
  }

  /** End of input: a last line without line feed, and missing parts. */
  end(take: (line: TraceLine) => void): void {
    this.#take = take
    this.#scan.end()
    this.#reader.close()
  }

  /** Position of the current line, in bytes; also valid while a problem is reported. */
  get place(): { readonly offset: number; readonly sizeBytes: number } {
    return this.#reader.place
  }

  #takeFrames(frames: readonly LineFrame[]): void {
    for (const frame of frames) {
      const line = this.#reader.take(frame)
      if (line) this.#take(line)
    }
  }

  /** False for invalid UTF-8. */
  #takeLines(bytes: Uint8Array): boolean {
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
      if (line) this.#take(line)
      from = lf + 1
    }
    return true
  }
}

function wholeLine(text: string, sizeBytes: number): DecodedLine {
  return decodeLine(text, { ascii: sizeBytes === text.length })
}
