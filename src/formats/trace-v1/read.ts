import { WiretapeError, type Diagnostic, type Report, type TapeRecord } from '../../model/index.js'
import { LineFramer, type LineFrame } from '../../wire/index.js'
import type { Input } from '../format.js'
import { flatMapped } from '../iterate.js'
import { decodeLine, type DecodedLine } from './decode.js'

/**
 * Maximum length of a tape's line. A recorded message has at most 64 MB, but a line of noise may need six
 * characters per byte, and its original bytes in base64. Longer lines exceed a JavaScript string.
 */
export const longestLine = 500 * 1024 * 1024

/** One line of a tape. */
export interface TraceLine {
  readonly record: TapeRecord
  /** The exact line without its line feed. */
  readonly text: string
  /** 1-based. */
  readonly number: number
  /** Start of the line, in bytes from the start of the input. */
  readonly offset: number
  /** Without its line feed. */
  readonly sizeBytes: number
}

/**
 * Lines of a tape in file order. An invalid line costs only itself: it is reported and omitted.
 *
 * @param known `checked`: every line is valid JSON; `only`: the lines to return
 */
export function readTraceLines(
  source: AsyncIterable<Uint8Array>,
  report: Report,
  { checked = false, values = false, only }: Pick<Input, 'checked' | 'only' | 'values'> = {},
): AsyncIterable<TraceLine> {
  const framer = new LineFramer({ maxBytes: longestLine, borrowed: true })
  const reader = createLineReader(report, (text, sizeBytes) =>
    decodeLine(text, { checked, values, ascii: sizeBytes === text.length }),
  )
  let records = 0
  function* linesOf(frames: readonly LineFrame[]): Generator<TraceLine> {
    for (const frame of frames) {
      if (only && !only(records) && !isBlank(frame.bytes)) {
        reader.pass(frame.bytes.length)
        records += 1
        continue
      }
      const line = reader.take(frame)
      if (!line) continue
      records += 1
      yield line
    }
  }
  function* lastLines(): Generator<TraceLine> {
    yield* linesOf(framer.end())
    reader.close()
  }
  return flatMapped(source, (chunk) => linesOf(framer.push(chunk)), lastLines)
}

/** Takes the lines of one input in order, and reports their problems. */
export interface LineReader {
  take(frame: LineFrame): TraceLine | undefined
  /** As `take`, for a decoded line that ended with a line feed. @param endBytes size of its line end */
  takeText(text: string, sizeBytes: number, endBytes: number): TraceLine | undefined
  /** Counts a message line that the caller read itself, after checking `mayPass`. */
  pass(sizeBytes: number): void
  /** False: the next line must be read here, since it is the first or follows the end. */
  readonly mayPass: boolean
  /** Start of the next line, in bytes from the start of the input. */
  readonly offset: number
  /** Position of the last line, in bytes; also valid while a problem is reported. */
  readonly place: { readonly offset: number; readonly sizeBytes: number }
  /** End of input: reports missing parts. */
  close(): void
}

/** @param decode reads a line of this size in bytes; `decodeLine`, or a faster, less complete function */
export function createLineReader(
  report: Report,
  decode: (text: string, sizeBytes: number) => DecodedLine,
): LineReader {
  return new TapeLineReader(report, decode)
}

class TapeLineReader implements LineReader {
  readonly #report: Report
  readonly #decode: (text: string, sizeBytes: number) => DecodedLine
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #number = 0
  #records = 0
  /** Records of known types. A file without any is no tape. */
  #known = 0
  #offset = 0
  #isEnded = false
  #place = { offset: 0, sizeBytes: 0 }

  constructor(report: Report, decode: (text: string, sizeBytes: number) => DecodedLine) {
    this.#report = report
    this.#decode = decode
  }

  get mayPass(): boolean {
    return this.#records > 0 && !this.#isEnded
  }

  get offset(): number {
    return this.#offset
  }

  get place(): { readonly offset: number; readonly sizeBytes: number } {
    return this.#place
  }

  take(frame: LineFrame): TraceLine | undefined {
    let start = this.#offset
    if (frame.kind === 'piece' && !frame.last) return undefined
    this.#offset = frame.endOffset
    this.#place = { offset: start, sizeBytes: this.#offset - start }
    this.#number += 1
    if (frame.kind === 'piece')
      return this.#wrong('line-too-long', `longer than ${longestLine / 1024 / 1024} MiB`)
    let bytes = frame.bytes
    if (this.#number === 1 && startsWithBom(bytes)) {
      this.#warn('bom', 'starts with a byte order mark')
      bytes = bytes.subarray(3)
      start += 3
    }
    if (isBlank(bytes)) return undefined
    let text: string
    try {
      text = this.#utf8.decode(bytes)
    } catch {
      return frame.end === 'none' ? this.#torn() : this.#wrong('not-utf8', 'not valid UTF-8')
    }
    return this.#decoded(text, start, bytes.length, frame.end === 'none')
  }

  takeText(text: string, sizeBytes: number, endBytes: number): TraceLine | undefined {
    const start = this.#offset
    this.#offset += sizeBytes + endBytes
    this.#place = { offset: start, sizeBytes }
    this.#number += 1
    return text.trim() === '' ? undefined : this.#decoded(text, start, sizeBytes, false)
  }

  pass(sizeBytes: number): void {
    this.#place = { offset: this.#offset, sizeBytes }
    this.#offset += sizeBytes + 1
    this.#number += 1
    this.#records += 1
    this.#known += 1
  }

  close(): void {
    if (this.#known === 0) {
      throw new WiretapeError('not-a-recording', 'it contains no line of a tape', {
        hint: 'Is it the right file?',
      })
    }
    if (!this.#isEnded) this.#report(incomplete('no end line: truncated, or still being recorded'))
  }

  #decoded(text: string, start: number, sizeBytes: number, last: boolean): TraceLine | undefined {
    const line = this.#decode(text, sizeBytes)
    if ('fault' in line) {
      if (line.version !== undefined) throw wrongVersion(line.version, this.#number)
      if (last) return this.#torn()
      return this.#wrong(line.fault.code, line.fault.message, line.fault.at?.column)
    }
    this.#accept(line.record)
    return { record: line.record, text, number: this.#number, offset: start, sizeBytes }
  }

  #accept({ type }: TapeRecord): void {
    if (this.#records === 0 && type !== 'meta') {
      this.#wrong(
        'no-meta',
        'the first line is not a meta line: label and command are unknown, and the session starts at the first line',
      )
    }
    if (this.#records > 0 && !this.#isEnded && type === 'meta') {
      const message = 'no end line before this meta line: the previous tape is truncated'
      this.#report(incomplete(message, this.#number))
    }
    if (this.#isEnded && type !== 'meta') this.#warn('after-end', 'follows the end line')
    this.#isEnded = type === 'end'
    this.#records += 1
    if (type !== 'unknown') this.#known += 1
  }

  #wrong(code: string, message: string, column?: number): undefined {
    const at = { line: this.#number, ...(column !== undefined && { column }) }
    this.#report({ severity: 'error', code, message, at })
  }

  #warn(code: string, message: string): undefined {
    this.#report({ severity: 'warning', code, message, at: { line: this.#number } })
  }

  #torn(): undefined {
    return this.#warn('torn-line', 'the last line is truncated')
  }
}

function incomplete(message: string, line?: number): Diagnostic {
  return { severity: 'warning', code: 'incomplete', message, ...(line !== undefined && { at: { line } }) }
}

function wrongVersion(version: string, line: number): WiretapeError {
  const said = version === 'none' ? 'no version (`v`)' : `trace version ${version.slice(0, 40)}`
  return new WiretapeError('unsupported-version', `line ${line} has ${said}; wiretape reads version 1`, {
    hint: 'A newer wiretape may read it.',
  })
}

function startsWithBom(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function isBlank(bytes: Uint8Array): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false
  return true
}
