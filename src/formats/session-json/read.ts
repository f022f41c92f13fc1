import { WiretapeError, type Report, type TapeRecord, type Transport } from '../../model/index.js'
import { tellsMark } from '../byte-order-mark.js'
import type { JsonPiece } from '../../wire/index.js'
import type { FileInput, Input, RecordingEnds } from '../format.js'
import { chained, flatMapped, just, opened } from '../iterate.js'
import { messagesOnly, notesOnly, piecesIn, piecesOf } from './document.js'
import { decodeEntry, type Entry } from './entry-file.js'
import type { EntryContext } from './entry.js'
import { factsOf, type Facts } from './facts.js'
import { differing } from './kept.js'
import { createEntryReader, keptLine, type EntryReader } from './read-entry.js'
import { createPlainBytes, type PlainBytes } from './plain-bytes.js'
import { createPlainRecords, plainId, type PlainRecords } from './plain-record.js'
import { heldNotes, readNotes, type HeldNotes, type Said } from './read-notes.js'
import { commandOf } from './server-command.js'
import { bareEnd, bareMeta, beganOf, madeUpId, headOf, withBeside } from './session.js'
import { parseMicros, parseMoment, tapeTime } from './time.js'

const required = [
  'id',
  'started_at',
  'ended_at',
  'transport',
  'server_command',
  'server_url',
  'messages',
  'metadata',
]
const transports = ['stdio', 'sse', 'streamable-http'] as const satisfies readonly Transport[]

/**
 * The records of a session file: its head as a `meta` line, its messages, the lines that `metadata.wiretape`
 * keeps between them, and an `end` line when the session ended. The file is read twice, since `metadata` comes
 * last; later passes need one read. Only the current payload is held.
 */
export function readSession(input: Input, report: Report): AsyncIterable<TapeRecord> {
  return opened(async () => {
    const { meta, end, context, facts } = await frameOf(input, report)
    const entries = createEntryReader(context, facts.own?.without ?? [], report)
    function* last(): Generator<TapeRecord> {
      if (end) yield end
      else if (facts.top.get('ended_at') === 'null') {
        const message =
          '"ended_at" is null: truncated, still being recorded, or from a version that never sets it'
        report({ severity: 'warning', code: 'incomplete', message })
      }
    }
    const plainRecord = createPlainRecords(context)
    const messages: Messages = { context, entries, plainRecord, report }
    const { hasNotes, notes } = facts.own ?? {}
    return chained<TapeRecord>([
      () => just([meta]),
      () =>
        hasNotes && !notes
          ? flatMapped(messagesBesideNotes(input, messages), (records) => records)
          : messagesOf(input, messages, notes && heldNotes(notes, report)),
      () => just(last()),
    ])
  })
}

/** First and last record: in a fraction of the time when the file was read before. */
export async function readSessionEnds(input: FileInput): Promise<RecordingEnds | undefined> {
  const { sizeBytes, seen } = input
  const all = { bytes: () => input.bytes(0, sizeBytes), ...(seen && { seen }) }
  const { end } = await frameOf(all, () => undefined)
  if (!end) return undefined
  let first: TapeRecord | undefined
  for await (const record of readSession(all, () => undefined)) {
    first ??= record
    if (record.type === 'message') return { first, firstMessage: record, last: end }
  }
  return undefined
}

interface Frame {
  readonly meta: TapeRecord
  readonly end: TapeRecord | undefined
  readonly context: EntryContext
  readonly facts: Facts
}

async function frameOf(input: Pick<Input, 'bytes' | 'seen'>, report: Report): Promise<Frame> {
  const facts = await factsOf(input)
  const missing = required.filter((name) => !facts.names.has(name))
  if (missing.length > required.length - 2) {
    throw new WiretapeError('not-a-recording', 'it contains no session', { hint: 'Is it the right file?' })
  }
  function fault(message: string): void {
    report({ severity: 'error', code: 'bad-session', message })
  }
  if (missing.length > 0) fault(`the session has no ${missing.map((name) => `"${name}"`).join(', ')}`)
  for (const name of facts.repeated) fault(`"${name}" occurs more than once`)
  if (facts.problem !== undefined) {
    report({ severity: 'warning', code: 'unknown-metadata', message: facts.problem })
  }
  const meta = metaOf(facts, fault)
  // The tape may have a more exact start time than the documented member.
  const whole = withBeside(meta, facts.own?.meta, [])
  const startMicros = parseMicros(whole.startedAt) ?? parseMicros(meta.startedAt)!
  const bare = endOf(facts, beganOf(whole), fault)
  const end = bare && withBeside(bare, facts.own?.end, [])
  const kept = differing(facts.top, headOf(whole, end).members)
  return {
    meta: withBeside(meta, facts.own?.meta, kept),
    end,
    context: { startMicros, transport: meta.wiretape!.transport },
    facts,
  }
}

interface Messages {
  readonly context: EntryContext
  readonly entries: EntryReader
  readonly plainRecord: PlainRecords
  readonly report: Report
}

/** An element of `messages`. */
interface Element {
  readonly piece: JsonPiece
  readonly number: number
  /** Undefined for an unreadable element. */
  readonly proxyId: string | undefined
  /** Undefined for an unreadable element, and for a plain one. */
  readonly entry: Entry | undefined
  readonly plain: PlainBytes | undefined
}

/** The records per chunk of bytes: files have millions of them. */
function messagesOf(
  input: Input,
  messages: Messages,
  notes: HeldNotes | undefined,
): AsyncIterable<TapeRecord> {
  const pieces = piecesOf(messagesWalk(messages))
  function* recordsOf(found: readonly JsonPiece[]): Generator<TapeRecord> {
    for (const piece of found) {
      const element = elementOf(piece, messages)
      if (element) yield* elementRecords(element, notes?.next(element.number, element.proxyId), messages)
    }
  }
  function* end(): Generator<TapeRecord> {
    yield* recordsOf(pieces.end())
    yield* messages.entries.end()
    if (notes) yield* notes.rest()
  }
  return flatMapped(input.bytes(), (chunk) => recordsOf(pieces.push(chunk)), end)
}

/** As `messagesOf`, for a file with too many notes to hold: they are read in step with the messages. */
async function* messagesBesideNotes(
  input: Input,
  messages: Messages,
): AsyncGenerator<TapeRecord[], void, undefined> {
  const notes = readNotes(piecesIn(input, piecesOf(notesOnly)), messages.report)
  try {
    for await (const found of piecesIn(input, piecesOf(messagesWalk(messages)))) {
      const records: TapeRecord[] = []
      for (const piece of found) {
        const element = elementOf(piece, messages)
        if (!element) continue
        const said = notes.next(element.number, element.proxyId)
        const known = said instanceof Promise ? await said : said
        records.push(...elementRecords(element, known, messages))
      }
      yield records
    }
    yield [...messages.entries.end()]
    for (let line = await notes.rest(); line; line = await notes.rest()) yield [line]
  } finally {
    await notes.close()
  }
}

function messagesWalk({ context, report }: Messages): Parameters<typeof piecesOf>[0] {
  return { ...messagesOnly, ...tellsMark(report), take: createPlainBytes(context.transport) }
}

/** Reports problems of an element. Undefined for an invalid one. */
function elementOf(piece: JsonPiece, { context, report }: Messages): Element | undefined {
  const [name, number] = piece.path
  if (name !== 'messages' || typeof number !== 'number') {
    if (piece.fault === undefined) return undefined
    const message = `not valid JSON: ${piece.fault}`
    report({ severity: 'error', code: 'not-json', message, at: { line: piece.line } })
    return undefined
  }
  if (piece.taken) {
    const plain = piece.taken as PlainBytes
    return { piece, number, proxyId: plainId(plain), entry: undefined, plain }
  }
  const { entry, problem } = decodeEntry(piece, number, context)
  if (problem !== undefined) {
    const message = `${piece.between ? 'before ' : ''}message ${number}: ${problem}`
    report({ severity: 'error', code: 'bad-entry', message, at: { line: piece.line } })
  }
  return piece.between ? undefined : { piece, number, proxyId: entry?.proxyId, entry, plain: undefined }
}

function* elementRecords(
  element: Element,
  said: Said | undefined,
  messages: Messages,
): Generator<TapeRecord> {
  const { piece, plain } = element
  const { entries } = messages
  if (said && said.before.length > 0) {
    yield* entries.end()
    for (const line of said.before) entries.see(line)
    yield* said.before
  }
  if (plain && entries.isPlain) {
    const record = messages.plainRecord(plain, said?.frame)
    if (record) {
      yield record
      return
    }
  }
  const entry = plain ? elementOf({ ...piece, taken: undefined }, messages)?.entry : element.entry
  if (entry) yield* entries.take(entry, said?.frame)
  else {
    yield* entries.end()
    yield keptLine(piece)
  }
}

function metaOf(facts: Facts, fault: (message: string) => void): ReturnType<typeof bareMeta> {
  const { top, names } = facts
  const startMicros = parseMoment(top.get('started_at') ?? 'null')
  if (names.has('started_at') && startMicros === undefined) fault('"started_at" is not an ISO 8601 time')
  const id = stringOf(top.get('id'))
  if (names.has('id') && id === undefined) fault('"id" is not a string')
  const said = stringOf(top.get('transport'))
  const transport = transports.find((known) => known === said)
  if (names.has('transport') && transport === undefined) {
    fault(`"transport" is ${top.get('transport')?.slice(0, 40)}, not stdio, sse or streamable-http`)
  }
  for (const name of ['server_command', 'server_url']) {
    const text = top.get(name) ?? 'null'
    if (text !== 'null' && !text.startsWith('"')) fault(`"${name}" is neither a string nor null`)
  }
  if (top.get('metadata') !== undefined) fault('"metadata" is not an object')
  if (names.has('messages') && facts.messages !== 'array') fault('"messages" is not an array')
  const meta = bareMeta({
    startedAt: tapeTime(startMicros ?? 0),
    session: id ?? '',
    transport: transport ?? 'stdio',
    url: stringOf(top.get('server_url')) ?? null,
    metadata: facts.metadata,
    command: commandOf(stringOf(top.get('server_command')) ?? null),
  })
  return id === undefined ? { ...meta, wiretape: { ...meta.wiretape!, session: madeUpId(meta) } } : meta
}

function endOf(
  facts: Facts,
  began: ReturnType<typeof beganOf>,
  fault: (message: string) => void,
): ReturnType<typeof bareEnd> | undefined {
  const text = facts.top.get('ended_at')
  if (text === undefined || text === 'null') return undefined
  const endMicros = parseMoment(text)
  if (endMicros === undefined) fault('"ended_at" is not an ISO 8601 time')
  return endMicros === undefined ? undefined : bareEnd('', endMicros, began)
}

function stringOf(json: string | undefined): string | undefined {
  return json?.startsWith('"') ? (JSON.parse(json) as string) : undefined
}
