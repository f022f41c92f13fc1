import { WiretapeError, type MessageRecord, type Report, type TapeRecord } from '../../model/index.js'
import {
  createLineFramer,
  findJsonValue,
  isFault,
  JsonObject,
  kindAt,
  type LineFrame,
} from '../../wire/index.js'
import type { Input } from '../format.js'
import { createDirections } from '../foreign/directions.js'
import { foreignEnd, foreignMessage, foreignMeta, isoTime, noTime } from '../foreign/records.js'

/** Longest line that fits a JavaScript string. */
const longestLine = 500 * 1024 * 1024
/** Messages that are held until one says when it was. */
const heldForTime = 256

/**
 * A JSON-RPC message a line, as records. Who sent a message is concluded from what it says. Times are those of
 * `timestamp_ms` or `timestamp` (milliseconds since the epoch) where messages have such a member.
 */
export async function* readLines(input: Input, report: Report): AsyncGenerator<TapeRecord, void, undefined> {
  const framer = createLineFramer({ maxBytes: longestLine })
  const lines = createLines(report, input.checked === true)
  let meta = false
  const held: Line[] = []
  let t = noTime

  function* give(line: Line): Generator<TapeRecord> {
    if (!meta && line.t === undefined && held.length < heldForTime) {
      held.push(line)
      return
    }
    yield* start(line.t)
    yield* record(line)
  }
  function* start(startedAt: string | undefined): Generator<TapeRecord> {
    if (meta) return
    meta = true
    t = startedAt ?? noTime
    yield foreignMeta({ startedAt: t, transport: 'stdio', label: 'jsonrpc' })
    for (const earlier of held) yield* record(earlier)
  }
  function* record(line: Line): Generator<TapeRecord> {
    t = line.t ?? t
    yield line.make(t)
  }

  for await (const chunk of input.bytes()) {
    for (const frame of framer.push(chunk)) {
      const line = lines.take(frame)
      if (line) yield* give(line)
    }
  }
  for (const frame of framer.end()) {
    const line = lines.take(frame)
    if (line) yield* give(line)
  }
  lines.close()
  yield* start(undefined)
  yield foreignEnd(t)
}

interface Line {
  readonly t: string | undefined
  make(t: string): MessageRecord
}

function createLines(
  report: Report,
  checked: boolean,
): { take(frame: LineFrame): Line | undefined; close(): void } {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const directionOf = createDirections()
  let number = 0
  let lines = 0
  let understood = 0

  function wrong(message: string, column?: number): undefined {
    const at = { line: number, ...(column !== undefined && { column }) }
    report({ severity: 'error', code: 'bad-line', message, at })
  }

  function take(frame: LineFrame): Line | undefined {
    if (frame.kind === 'piece') {
      if (frame.last) number += 1
      return frame.last ? wrong(`longer than ${longestLine / 1024 / 1024} MiB`) : undefined
    }
    number += 1
    let text: string
    try {
      text = utf8.decode(frame.bytes)
    } catch {
      lines += 1
      return wrong('not valid UTF-8')
    }
    if (number === 1 && text.startsWith('\ufeff')) {
      report({ severity: 'warning', code: 'bom', message: 'starts with a byte order mark', at: { line: 1 } })
      text = text.slice(1)
    }
    if (text.trim() === '') return undefined
    lines += 1
    if (!checked) return read(text, false)
    try {
      return read(text, true)
    } catch {
      // The file is no longer what it was.
      return read(text, false)
    }
  }

  function read(text: string, isJson: boolean): Line | undefined {
    const span = spanOf(text, isJson)
    if (isFault(span)) return wrong(`not valid JSON: ${span.reason}`, span.at + 1)
    const kind = kindAt(text, span.start)
    if (kind !== 'object' && kind !== 'array') return wrong('neither a JSON-RPC message nor a batch of them')
    const exact = text.slice(span.start, span.end)
    const t = kind === 'object' ? timeIn(exact) : undefined
    const made = foreignMessage(exact, { t: '', direction: 'client_to_server' })
    const [first] = made.parts
    if (made.parts.some(({ envelope }) => envelope.kind !== 'invalid' || envelope.method !== undefined))
      understood += 1
    const direction = directionOf(first!.envelope)
    for (const { envelope } of made.parts.slice(1)) directionOf(envelope)
    return { t, make: (when) => ({ ...made, t: when, direction }) }
  }

  function close(): void {
    if (lines === 0 || understood > 0) return
    throw new WiretapeError('not-a-recording', 'it holds no JSON-RPC message', {
      hint: 'Is it the right file?',
    })
  }

  return { take, close }
}

/** Longer lines are looked at without building their value. */
const longestParsed = 1 << 20

/** The engine's own parser tells sooner that a line is JSON. */
function spanOf(text: string, checked: boolean): ReturnType<typeof findJsonValue> {
  const isBare = text.startsWith('{') && text.endsWith('}')
  if (checked && isBare) return { start: 0, end: text.length }
  if (text.length > longestParsed || !isBare) return findJsonValue(text)
  try {
    JSON.parse(text)
    return { start: 0, end: text.length }
  } catch {
    return findJsonValue(text)
  }
}

/** Looked for only where there may be one. */
function timeIn(text: string): string | undefined {
  if (!text.includes('"timestamp')) return undefined
  const object = new JsonObject(text, 0)
  for (const name of ['timestamp_ms', 'timestamp']) {
    const json = object.raw(name)
    if (json !== undefined && /^(?:0|[1-9]\d{0,15})$/.test(json)) return isoTime(Number(json))
  }
  return undefined
}
