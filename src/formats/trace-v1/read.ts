import { WiretapeError, type Diagnostic, type Report, type TapeRecord } from '../../model/index.js'
import { createLineFramer, type LineFrame } from '../../wire/index.js'
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
  const framer = createLineFramer({ maxBytes: longestLine, borrowed: true })
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
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let number = 0
  let records = 0
  /** Records of known types. A file without any is no tape. */
  let known = 0
  let offset = 0
  let ended = false
  let place = { offset: 0, sizeBytes: 0 }

  function take(frame: LineFrame): TraceLine | undefined {
    let start = offset
    if (frame.kind === 'piece' && !frame.last) return undefined
    offset = frame.endOffset
    place = { offset: start, sizeBytes: offset - start }
    number += 1
    if (frame.kind === 'piece') return wrong('line-too-long', `longer than ${longestLine / 1024 / 1024} MiB`)
    let bytes = frame.bytes
    if (number === 1 && startsWithBom(bytes)) {
      report({ severity: 'warning', code: 'bom', message: 'starts with a byte order mark', at: { line: 1 } })
      bytes = bytes.subarray(3)
      start += 3
    }
    if (isBlank(bytes)) return undefined
    let text: string
    try {
      text = utf8.decode(bytes)
    } catch {
      return frame.end === 'none' ? torn() : wrong('not-utf8', 'not valid UTF-8')
    }
    return decoded(text, start, bytes.length, frame.end === 'none')
  }

  function takeText(text: string, sizeBytes: number, endBytes: number): TraceLine | undefined {
    const start = offset
    offset += sizeBytes + endBytes
    place = { offset: start, sizeBytes }
    number += 1
    return text.trim() === '' ? undefined : decoded(text, start, sizeBytes, false)
  }

  function pass(sizeBytes: number): void {
    place = { offset, sizeBytes }
    offset += sizeBytes + 1
    number += 1
    records += 1
    known += 1
  }

  function decoded(text: string, start: number, sizeBytes: number, last: boolean): TraceLine | undefined {
    const line = decode(text, sizeBytes)
    if ('fault' in line) {
      if (line.version !== undefined) throw wrongVersion(line.version, number)
      if (last) return torn()
      return wrong(line.fault.code, line.fault.message, line.fault.at?.column)
    }
    return accept({ record: line.record, text, number, offset: start, sizeBytes })
  }

  function accept(line: TraceLine): TraceLine {
    const { record } = line
    if (records === 0 && record.type !== 'meta') {
      const message =
        'the first line is not a meta line: label and command are unknown, and the session starts at the first line'
      report({ severity: 'error', code: 'no-meta', message, at: { line: number } })
    }
    if (records > 0 && !ended && record.type === 'meta') {
      report(incomplete('no end line before this meta line: the previous tape was cut off', number))
    }
    if (ended && record.type !== 'meta') {
      report({
        severity: 'warning',
        code: 'after-end',
        message: 'follows the end line',
        at: { line: number },
      })
    }
    ended = record.type === 'end'
    records += 1
    if (record.type !== 'unknown') known += 1
    return line
  }

  function wrong(code: string, message: string, column?: number): undefined {
    report({
      severity: 'error',
      code,
      message,
      at: { line: number, ...(column !== undefined && { column }) },
    })
  }

  function torn(): undefined {
    report({
      severity: 'warning',
      code: 'torn-line',
      message: 'the last line is cut off',
      at: { line: number },
    })
  }

  function close(): void {
    if (known === 0) {
      throw new WiretapeError('not-a-recording', 'it contains no line of a tape', {
        hint: 'Is it the right file?',
      })
    }
    if (!ended) report(incomplete('no end line: cut off, or still being recorded'))
  }

  return {
    take,
    takeText,
    pass,
    close,
    get mayPass() {
      return records > 0 && !ended
    },
    get offset() {
      return offset
    },
    get place() {
      return place
    },
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
