import type { Diagnostic, MessageRecord, Report, TapeRecord } from '../../model/index.js'
import { findJsonValue, isFault, JsonObject, kindAt, onOneLine, type JsonPiece } from '../../wire/index.js'
import { decodeLine } from '../trace-v1/index.js'
import { entryOf, type EntryContext } from './entry.js'
import { differing, keptName, Members } from './members.js'
import type { FrameNote } from './read-notes.js'
import { parseMicros, tapeTime } from './time.js'

/** Makes records of the entries of `messages`. What is no message is kept as a line that other readers ignore. */
export interface EntryReader {
  take(piece: JsonPiece, number: number, note: FrameNote | undefined): Generator<TapeRecord>
  /** After the last entry: a batch that lacks some is given as far as it is there. */
  end(): Generator<TapeRecord>
}

/** An entry that has what a message needs. */
interface Entry {
  readonly object: JsonObject
  readonly proxyId: string
  readonly sequence: number
  readonly micros: number
  readonly direction: 'client_to_server' | 'server_to_client'
  readonly payload: string
  readonly original: string | undefined
}

/** A batch whose entries are being collected. */
interface Batch {
  readonly note: FrameNote
  readonly between: readonly string[]
  readonly entries: Entry[]
}

const requiredMembers = ['proxy_id', 'sequence', 'timestamp', 'direction', 'transport', 'payload']
/** Type of the tape line that keeps an entry which is no message. */
const keptEntry = 'session-entry'

export function createEntryReader(context: EntryContext, report: Report): EntryReader {
  let batch: Batch | undefined

  function* take(piece: JsonPiece, number: number, note: FrameNote | undefined): Generator<TapeRecord> {
    const decoded = decodeEntry(piece, number, context)
    if (decoded.problem !== undefined) report(problemOf(decoded.problem, number, piece.line))
    const { entry } = decoded
    if (!entry) {
      yield* end()
      yield keptLine(piece)
      return
    }
    if (note && note.id !== entry.proxyId) {
      const message = `metadata.wiretape speaks of ${note.id} here: the file was changed, and what it says of this message is left out`
      report(problemOf(message, number, piece.line, 'warning'))
      note = undefined
    }
    if (note) yield* end()
    if (note?.between) batch = { note, between: note.between, entries: [] }
    if (!batch) {
      yield messageOf(entry, note, context)
      return
    }
    batch.entries.push(entry)
    if (batch.entries.length === batch.between.length - 1) yield* end()
  }

  function* end(): Generator<TapeRecord> {
    if (!batch) return
    const { note, between, entries } = batch
    batch = undefined
    if (entries.length === between.length - 1) yield batchOf(entries, note, between, context)
    else for (const entry of entries) yield messageOf(entry, undefined, context)
  }

  return { take, end }
}

function decodeEntry(
  piece: JsonPiece,
  number: number,
  context: EntryContext,
): { entry?: Entry; problem?: string } {
  if (piece.fault !== undefined) return { problem: `not valid JSON: ${piece.fault}` }
  const span = findJsonValue(piece.text)
  if (isFault(span)) return { problem: `not valid JSON: ${span.reason}` }
  if (kindAt(piece.text, span.start) !== 'object') return { problem: 'it is no object' }
  const object = new JsonObject(piece.text, span.start)
  const missing = requiredMembers.filter((name) => !object.has(name))
  let problem = missing.length === 0 ? undefined : `${listOf(missing)} missing`
  const direction = object.string('direction')
  if (direction !== 'client_to_server' && direction !== 'server_to_client') {
    const said = object.raw('direction')?.slice(0, 40)
    problem ??= `"direction" is ${said}, neither "client_to_server" nor "server_to_client"`
    return { problem }
  }
  const payload = object.raw('payload')
  if (payload === undefined) return { problem: problem! }
  const kind = kindAt(payload, 0)
  if (kind !== 'object' && kind !== 'array')
    return { problem: problem ?? `"payload" is ${kind}, not a JSON-RPC message` }
  const micros = parseMicros(object.string('timestamp') ?? '')
  if (micros === undefined) problem ??= '"timestamp" is no ISO 8601 time'
  const transport = object.string('transport')
  if (!['stdio', 'sse', 'streamable-http'].includes(transport ?? '')) {
    problem ??= `"transport" is ${object.raw('transport')?.slice(0, 40)}, not stdio, sse or streamable-http`
  }
  const sequence = object.number('sequence')
  if (!Number.isSafeInteger(sequence) || sequence! < 0) problem ??= '"sequence" is no number from 0'
  const originalText = object.raw('original_payload')
  const original =
    originalText !== undefined && kindAt(originalText, 0) === 'object' ? originalText : undefined
  const entry: Entry = {
    object,
    proxyId: object.string('proxy_id') ?? `msg-${String(number + 1).padStart(3, '0')}`,
    sequence: Number.isSafeInteger(sequence) && sequence! >= 0 ? sequence! : number,
    micros: micros ?? context.startMicros,
    direction,
    payload: onOneLine(payload),
    original: original && onOneLine(original),
  }
  return problem === undefined ? withPayloadProblem(entry) : { entry, problem }
}

/** Says so when the payload is no JSON-RPC; it is read all the same. */
function withPayloadProblem(entry: Entry): { entry: Entry; problem?: string } {
  const record = decodeLine(`{"t":"","dir":"in","raw":${entry.payload}}`)
  const part = 'record' in record && record.record.type === 'message' ? record.record.parts[0] : undefined
  if (kindAt(entry.payload, 0) === 'array')
    return { entry, problem: '"payload" is an array, not one JSON-RPC message' }
  const problem = part?.envelope.problem
  return problem === undefined
    ? { entry }
    : { entry, problem: `"payload" is no JSON-RPC 2.0 message: ${problem}` }
}

function usOf(entry: Entry, context: EntryContext): number {
  return Math.max(0, entry.micros - context.startMicros)
}

/** A line of a tape, as if it had been recorded: one reader for both. */
function lineOf(entry: Entry, raw: string, note: JsonObject | undefined, context: EntryContext): Members {
  const line = new Members()
    .text('t', tapeTime(entry.micros))
    .add('dir', entry.direction === 'client_to_server' ? '"in"' : '"out"')
    .add('raw', raw)
    .text('id', entry.proxyId)
    .add('seq', entry.sequence)
    .add('us', usOf(entry, context))
    .text('corr', entry.object.string('correlated_id'))
  if (entry.object.raw('modified') === 'true') line.add('modified', 'true').add('original', entry.original)
  return note ? line.addAll(note.others()) : line
}

function messageOf(entry: Entry, note: FrameNote | undefined, context: EntryContext): TapeRecord {
  const line = lineOf(entry, entry.payload, note?.line, context)
  const record = decode(line)
  const [part] = record.parts
  const place = { proxyId: entry.proxyId, sequence: entry.sequence, correlatedId: part!.correlatedId }
  const ours = entryOf(record, part!, place, context)
  const inFile = entry.object
    .others(['payload', 'original_payload'])
    .map(([name, json]) => [name, onOneLine(json)] as const)
  const kept = new Members().addAll(differing(inFile, ours))
  return kept.size === 0 ? record : decode(line.add(keptName, String(kept)))
}

function batchOf(
  entries: readonly Entry[],
  note: FrameNote,
  between: readonly string[],
  context: EntryContext,
): TapeRecord {
  const texts = entries.map(({ payload }, i) => between[i]! + payload)
  const [first] = entries
  const line = new Members()
    .text('t', tapeTime(first!.micros))
    .add('dir', first!.direction === 'client_to_server' ? '"in"' : '"out"')
    .add('raw', texts.join('') + between.at(-1)!)
    .add('seq', first!.sequence)
    .add('us', usOf(first!, context))
  if (first!.object.raw('modified') === 'true') line.add('modified', 'true')
  return decode(line.addAll(note.line.others()))
}

function decode(line: Members): MessageRecord {
  const decoded = decodeLine(String(line))
  if (!('record' in decoded) || decoded.record.type !== 'message')
    throw new Error('An entry made no message line')
  return decoded.record
}

function keptLine(piece: JsonPiece): TapeRecord {
  const line = new Members().text('type', keptEntry).text('text', piece.text)
  return { type: 'unknown', name: keptEntry, text: String(line) }
}

function problemOf(
  message: string,
  number: number,
  line: number,
  severity: Diagnostic['severity'] = 'error',
): Diagnostic {
  const code = severity === 'error' ? 'bad-entry' : 'changed'
  return { severity, code, message: `message ${number}: ${message}`, at: { line } }
}

function listOf(names: readonly string[]): string {
  return `${names.map((name) => `"${name}"`).join(', ')} ${names.length === 1 ? 'is' : 'are'}`
}
