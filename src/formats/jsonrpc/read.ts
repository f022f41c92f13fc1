import {
  noTime,
  WiretapeError,
  type MessageRecord,
  type MetaRecord,
  type Part,
  type Report,
  type TapeRecord,
  type Draft,
} from '../../model/index.js'
import {
  LineFramer,
  envelopeMembers,
  envelopeOf,
  isFault,
  kindAt,
  memberOf,
  onOneLine,
  seekMembers,
  type Found,
  type LineFrame,
  type Sought,
} from '../../wire/index.js'
import { flatMapped } from '../iterate.js'
import { lineSpan } from '../line-span.js'
import {
  LentMessage,
  plainReaders,
  PlainScan,
  type PlainLine,
  type PlainLines,
  type ReadPlain,
} from '../trace-v1/index.js'
import type { Input } from '../format.js'
import { createDirections } from '../foreign/directions.js'
import { foreignEnd, foreignMessage, foreignMeta, isoTime } from '../foreign/records.js'

/** Longest line that fits a JavaScript string. */
const longestLine = 500 * 1024 * 1024
const OPEN_OBJECT = 0x7b
const LF = 0x0a
/** Messages that wait for the first known time. */
const heldForTime = 256

/**
 * JSON-RPC messages, one per line, as records. The sender of a message is inferred from its content. Times are
 * those of `timestamp_ms` or `timestamp` (milliseconds since the epoch), if present.
 */
export function readLines(input: Input, report: Report): AsyncIterable<TapeRecord> {
  const { only = () => true } = input
  const lines = createLines(report, input)
  let begun = false
  /** Lines that wait until one of them has a time. */
  let held: (Line | Passed)[] = []
  let t = noTime
  let meta: MetaRecord
  let untimed = true
  let records = 0

  function* recordsOf(frames: readonly LineFrame[]): Generator<TapeRecord> {
    for (const frame of frames) {
      const line = lines.take(frame)
      if (!line) continue
      if (!begun && line.t === undefined && held.length < heldForTime) {
        held.push(line)
        continue
      }
      if (!begun) yield* begin(line.t)
      yield* timed(line)
    }
  }
  function* begin(startedAt: string | undefined): Generator<TapeRecord> {
    if (begun) return
    begun = true
    t = startedAt ?? noTime
    meta = foreignMeta({ startedAt: t, transport: 'stdio', label: 'jsonrpc' })
    if (only(records++)) yield meta
    for (const line of held) yield* timed(line)
    held = []
  }
  /** A message without a time gets the time of the previous message. */
  function timed({ message, t: own }: Line | Passed): readonly MessageRecord[] {
    if (own !== undefined) untimed = false
    t = own ?? t
    if (!only(records++) || !message) return []
    message.t = t
    if (own === undefined && t !== noTime) message.untimed = true
    return [message]
  }

  function* end(frames: readonly LineFrame[]): Generator<TapeRecord> {
    yield* recordsOf(frames)
    lines.close()
    yield* begin(undefined)
    if (input.seen) input.seen.untimed ??= untimed
    if (only(records)) yield foreignEnd(t, meta)
  }
  const reading = { recordsOf, end, mayTake: () => begun, records: timed }
  if (lines.skips) return selectedRecords(input, lines, reading)
  return input.lends && !input.only ? lentRecords(input, lines, reading) : allRecords(input, reading)
}

const framing = { maxBytes: longestLine, borrowed: true }

interface Reading {
  readonly recordsOf: (frames: readonly LineFrame[]) => Iterable<TapeRecord>
  readonly end: (frames: readonly LineFrame[]) => Iterable<TapeRecord>
  /** False while lines wait for a time, and must be kept. */
  readonly mayTake: () => boolean
  readonly records: (line: Line | Passed) => readonly TapeRecord[]
}

function allRecords(input: Input, { recordsOf, end }: Reading): AsyncIterable<TapeRecord> {
  const framer = new LineFramer(framing)
  return flatMapped(
    input.bytes(),
    (chunk) => recordsOf(framer.push(chunk)),
    () => end(framer.end()),
  )
}

/** As `allRecords`, without framing the lines that were not requested. */
function selectedRecords(input: Input, lines: Lines, reading: Reading): AsyncIterable<TapeRecord> {
  const read: ReadPlain = (bytes, start) => (bytes[start] === OPEN_OBJECT ? bytes.indexOf(LF, start) : -1)
  return scanned(input, reading, read, () => lines.skip())
}

/** As `allRecords`, most messages as `LentMessage`. */
function lentRecords(input: Input, lines: Lines, reading: Reading): AsyncIterable<TapeRecord> {
  const { lends } = input
  return scanned(input, reading, plainReaders.jsonrpc, (chunk, line) =>
    line.isTelling ? undefined : lines.takePlain(chunk, line, lends?.lines),
  )
}

/** Lines that `read` finds are taken by `take`, unless it returns undefined; the others as frames. */
function scanned(
  input: Input,
  { recordsOf, end, mayTake, records }: Reading,
  read: ReadPlain,
  take: (chunk: Uint8Array, line: PlainLine) => Line | Passed | undefined,
): AsyncIterable<TapeRecord> {
  let taken: TapeRecord[] = []
  const scan = new PlainScan(
    read,
    {
      plain(chunk, line) {
        const found = mayTake() ? take(chunk, line) : undefined
        if (!found) return false
        for (const record of records(found)) taken.push(record)
        return true
      },
      frames(frames) {
        for (const record of recordsOf(frames)) taken.push(record)
      },
    },
    framing,
  )
  return flatMapped(
    input.bytes(),
    (chunk) => {
      taken = []
      scan.push(chunk, input.lends?.lines)
      return taken
    },
    () => {
      taken = []
      scan.end()
      return [...taken, ...end([])]
    },
  )
}

interface Line {
  /** Time of the message itself. */
  readonly t: string | undefined
  /** `t` and `direction` are filled in later. */
  readonly message: Draft<MessageRecord>
}

/** A line that was not requested, in a file without times. */
interface Passed {
  readonly t: undefined
  readonly message: undefined
}

const passed: Passed = { t: undefined, message: undefined }

interface Lines {
  take(frame: LineFrame): Line | Passed | undefined
  /** @param found see `LentMessage` */
  takePlain(bytes: Uint8Array, line: PlainLine, found: PlainLines | undefined): Line
  /** Whether lines with an object are skipped if they were not requested. */
  readonly skips: boolean
  /** Skips the next line, which has an object, if it was not requested. */
  skip(): Passed | undefined
  close(): void
}

function createLines(report: Report, { checked = false, only, seen }: Input): Lines {
  // Only in files without times: otherwise the time of each line affects the following ones.
  const passes = only && seen?.untimed ? (record: number): boolean => !only(record) : undefined
  const directionOf = createDirections()
  let number = 0
  let lines = 0
  let understood = 0

  function wrong(message: string, column?: number): undefined {
    const at = { line: number, ...(column !== undefined && { column }) }
    report({ severity: 'error', code: 'bad-line', message, at })
  }

  function skip(): Passed | undefined {
    // The first record comes from no line, so line numbers from 1 equal record numbers.
    if (passes?.(lines + 1) !== true) return undefined
    number += 1
    lines += 1
    understood += 1
    return passed
  }

  function take(frame: LineFrame): Line | Passed | undefined {
    if (frame.kind === 'piece') {
      if (frame.last) number += 1
      return frame.last ? wrong(`longer than ${longestLine / 1024 / 1024} MiB`) : undefined
    }
    if (frame.bytes[0] === OPEN_OBJECT && skip()) return passed
    number += 1
    let text = decoded(frame.bytes)
    if (text === undefined) {
      lines += 1
      return wrong('not valid UTF-8')
    }
    if (number === 1 && text.startsWith('\ufeff')) {
      report({ severity: 'warning', code: 'bom', message: 'starts with a byte order mark', at: { line: 1 } })
      text = text.slice(1)
    }
    if (isBlank(text)) return undefined
    lines += 1
    const sizeBytes = frame.bytes.length
    try {
      return read(text, sizeBytes, checked)
    } catch (error) {
      if (!checked) throw error
      // The file was changed since.
      return read(text, sizeBytes, false)
    }
  }

  function takePlain(bytes: Uint8Array, line: PlainLine, found: PlainLines | undefined): Line {
    number += 1
    lines += 1
    understood += 1
    const message = new LentMessage(bytes, line, found)
    message.direction = directionOf(message.parts[0]!.envelope)
    return { t: undefined, message }
  }

  function read(text: string, sizeBytes: number, isJson: boolean): Line | undefined {
    const line = readLine(text, sizeBytes, isJson)
    if ('problem' in line) return wrong(line.problem, line.column)
    const { parts } = line.message
    if (parts.some(isUnderstood)) understood += 1
    line.message.direction = directionOf(parts[0]!.envelope)
    for (let i = 1; i < parts.length; i += 1) directionOf(parts[i]!.envelope)
    return line
  }

  function close(): void {
    if (lines === 0 || understood > 0) return
    throw new WiretapeError('not-a-recording', 'it holds no JSON-RPC message', {
      hint: 'Is it the right file?',
    })
  }

  return { take, takePlain, skips: passes !== undefined, skip, close }
}

function readLine(
  text: string,
  sizeBytes: number,
  isJson: boolean,
): Line | { readonly problem: string; readonly column?: number } {
  const span = lineSpan(text, isJson)
  if (isFault(span)) return { problem: `not valid JSON: ${span.reason}`, column: span.at + 1 }
  const kind = kindAt(text, span.start)
  if (kind !== 'object' && kind !== 'array')
    return { problem: 'neither a JSON-RPC message nor a batch of them' }
  const exact = text.slice(span.start, span.end)
  return kind === 'object' ? messageLine(exact, sizeBytes === text.length) : batchLine(exact)
}

function isUnderstood({ envelope }: Part): boolean {
  return envelope.kind !== 'invalid' || envelope.method !== undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined for invalid UTF-8. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

function isBlank(text: string): boolean {
  return text.charCodeAt(0) !== 0x7b && text.trim() === ''
}

/** Members of a message with its time. */
const timeNames = ['timestamp_ms', 'timestamp']
const soughtInLine: Sought = new Map([...timeNames.map((name) => [name, null] as const), ...envelopeMembers])

/** @param ascii every character is one byte */
function messageLine(text: string, ascii: boolean): Line {
  const raw = onOneLine(text)
  const members = seekMembers(raw, 0, soughtInLine)
  const envelope = envelopeOf(raw, members)
  const end = raw.length
  const part: Part = ascii ? { envelope, start: 0, end, sizeBytes: end } : { envelope, start: 0, end }
  return {
    t: timeIn(raw, members),
    // One shape for all of these millions of objects.
    message: { type: 'message', t: noTime, direction: 'client_to_server', raw, batch: false, parts: [part] },
  }
}

function batchLine(text: string): Line {
  return { t: undefined, message: foreignMessage(text, { t: '', direction: 'client_to_server' }) }
}

function timeIn(text: string, members: readonly Found[]): string | undefined {
  for (const name of timeNames) {
    const member = memberOf(members, name)
    const json = member && text.slice(member.start, member.end)
    if (json !== undefined && /^(?:0|[1-9]\d{0,15})$/.test(json)) return isoTime(Number(json))
  }
  return undefined
}
