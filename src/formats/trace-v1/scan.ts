import { utf8Length, type Report } from '../../model/index.js'
import { createLineFramer } from '../../wire/index.js'
import { decodeLine, type DecodedLine } from './decode.js'
import { PlainLine, readPlainLine } from './plain-line.js'
import type { PlainLines } from './plain-lines.js'
import { quickLine } from './quick-line.js'
import { createLineReader, longestLine, type TraceLine } from './read.js'

/** Bytes of a tape in, its lines out. */
export interface TraceScan {
  /**
   * Passes each line completed by `chunk` to `take`, in order. The chunk may be kept until its last line ends.
   *
   * @param lines plain lines of the chunk that were found already
   */
  push(chunk: Uint8Array, take: (line: TraceLine) => void, lines?: PlainLines): void
  /** End of input: a last line without line feed, and missing parts. */
  end(take: (line: TraceLine) => void): void
  /** Position of the current line, in bytes; also valid while a problem is reported. */
  readonly place: { readonly offset: number; readonly sizeBytes: number }
}

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
}

/**
 * The fast reader of a tape, for an index: a chunk is decoded as a whole and lines are read by `quickLine`, so
 * records lack data that only content reveals. Unusual lines use the normal reader; most lines need no record if
 * there is `takePlain`.
 */
export function createTraceScan(
  report: Report,
  takePlain?: TakePlain,
  { borrowed = false, whole = false }: ScanOptions = {},
): TraceScan {
  const framer = createLineFramer({ maxBytes: longestLine, borrowed })
  const reader = createLineReader(report, whole ? wholeLine : quickLine)
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const plain = new PlainLine()
  let atStart = true

  function pushFrames(chunk: Uint8Array, take: (line: TraceLine) => void): void {
    for (const frame of framer.push(chunk)) {
      const line = reader.take(frame)
      if (line) take(line)
    }
  }

  /** Whole lines, while the framer is empty. False for invalid UTF-8. */
  function pushLines(bytes: Uint8Array, take: (line: TraceLine) => void): boolean {
    let text: string
    try {
      text = utf8.decode(bytes)
    } catch {
      return false
    }
    const ascii = text.length === bytes.length
    let from = 0
    for (let lf = text.indexOf('\n'); lf >= 0; lf = text.indexOf('\n', from)) {
      const end = lf > from && text.charCodeAt(lf - 1) === CR ? lf - 1 : lf
      const lineText = text.slice(from, end)
      const sizeBytes = ascii ? lineText.length : utf8Length(lineText)
      const line = reader.takeText(lineText, sizeBytes, lf + 1 - end)
      if (line) take(line)
      from = lf + 1
    }
    return true
  }

  /** As `pushLines` from `start` on, but plain lines go to `taken`; adjacent other lines go to `pushWhole` together. */
  function pushPlain(
    bytes: Uint8Array,
    start: number,
    taken: TakePlain,
    take: (line: TraceLine) => void,
    lines: PlainLines | undefined,
  ): void {
    let unusual = start
    let from = start
    while (from < bytes.length) {
      const lf = lines ? lines.read(from, plain) : readPlainLine(bytes, from, plain)
      if (lf < 0) {
        from = bytes.indexOf(LF, from) + 1
        continue
      }
      if (from > unusual) pushWhole(bytes.subarray(unusual, from), take)
      unusual = from
      if (reader.mayPass && taken(bytes, plain, reader.offset, lf - from)) {
        reader.pass(lf - from)
        framer.skip(lf + 1 - from)
        unusual = lf + 1
      }
      from = lf + 1
    }
    if (from > unusual) pushWhole(bytes.subarray(unusual), take)
  }

  /** Whole lines, while the framer is empty. */
  function pushWhole(bytes: Uint8Array, take: (line: TraceLine) => void): void {
    if (pushLines(bytes, take)) framer.skip(bytes.length)
    else pushFrames(bytes, take)
  }

  return {
    push(chunk, take, lines) {
      let start = 0
      // The first line may have a byte order mark, and a pending partial line comes first.
      if (atStart || framer.pendingBytes > 0) {
        const lf = chunk.indexOf(LF)
        start = lf < 0 ? chunk.length : lf + 1
        pushFrames(chunk.subarray(0, start), take)
        if (lf >= 0) atStart = false
      }
      const end = chunk.lastIndexOf(LF) + 1
      if (end > start) {
        if (takePlain) pushPlain(chunk.subarray(0, end), start, takePlain, take, lines)
        else pushWhole(chunk.subarray(start, end), take)
        start = end
      }
      pushFrames(chunk.subarray(start), take)
    },
    end(take) {
      for (const frame of framer.end()) {
        const line = reader.take(frame)
        if (line) take(line)
      }
      reader.close()
    },
    get place() {
      return reader.place
    },
  }
}

function wholeLine(text: string, sizeBytes: number): DecodedLine {
  return decodeLine(text, { ascii: sizeBytes === text.length })
}
