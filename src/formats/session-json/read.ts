import { WiretapeError, type Report, type TapeRecord, type Transport } from '../../model/index.js'
import { createJsonPieces, findJsonValue, isFault, JsonObject, kindAt, onOneLine } from '../../wire/index.js'
import type { JsonPath, JsonPiece } from '../../wire/index.js'
import type { Input } from '../format.js'
import { differing, Members } from './members.js'
import { createEntryReader, type EntryReader } from './read-entry.js'
import { readNotes, type Notes } from './read-notes.js'
import { bareEnd, bareMeta, commandOf, headOf, withKept } from './session.js'
import { parseMicros, preciseTime } from './time.js'

/** What the file says beside its messages. */
interface Facts {
  /** Top-level members but `messages` and `metadata`. */
  readonly top: Members
  /** All top-level names. */
  readonly names: ReadonlySet<string>
  readonly metadata: Members
  /** Members of `metadata.wiretape` but `lines`. */
  readonly own: Members
  readonly hasMessages: boolean
  readonly hasNotes: boolean
}

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
 * The records of a session file: its head as a `meta` line, its messages, what `metadata.wiretape` keeps
 * between them, and an `end` line when the session ended. The file is gone through several times, since
 * `metadata` stands last; no payload but the current one is held.
 */
export async function* readSession(input: Input, report: Report): AsyncIterable<TapeRecord> {
  const facts = await factsOf(input)
  if (!facts.hasMessages && facts.names.size === 0) {
    throw new WiretapeError('not-a-recording', 'it holds no session', { hint: 'Is it the right file?' })
  }
  const missing = required.filter((name) => !facts.names.has(name))
  if (missing.length > 0) fault(`the session has no ${missing.map((name) => `"${name}"`).join(', ')}`)
  function fault(message: string): void {
    report({ severity: 'error', code: 'bad-session', message })
  }

  const meta = metaOf(facts, fault)
  const end = endOf(facts, fault)
  const kept = differing([...facts.top], headOf(meta, end).members)
  yield withKept(meta, objectOf(facts.own.get('meta')), new Members().addAll(kept))
  const transport = meta.wiretape!.transport
  const entries = createEntryReader({ startMicros: parseMicros(meta.startedAt)!, transport }, report)
  const notes = facts.hasNotes ? readNotes(notePieces(input)) : undefined
  try {
    yield* messagesOf(input, entries, notes, report)
  } finally {
    await notes?.close()
  }
  if (end) yield withKept(end, objectOf(facts.own.get('end')), new Members())
  else {
    const message =
      '"ended_at" is null: cut off, still being recorded, or by a version that never fills it in'
    report({ severity: 'warning', code: 'incomplete', message })
  }
}

async function* messagesOf(
  input: Input,
  entries: EntryReader,
  notes: Notes | undefined,
  report: Report,
): AsyncGenerator<TapeRecord, void, undefined> {
  for await (const piece of piecesOf(input, opensRoot, (path) => path[0] !== 'messages')) {
    const [name, number] = piece.path
    if (name === 'messages' && typeof number === 'number') {
      yield* (await notes?.before(number)) ?? []
      yield* entries.take(piece, number, await notes?.of(number))
    } else if (piece.fault !== undefined) {
      const message = `not valid JSON: ${piece.fault}`
      report({ severity: 'error', code: 'not-json', message, at: { line: piece.line } })
    } else if (name === 'messages') {
      const message = '"messages" is no array'
      report({ severity: 'error', code: 'bad-session', message, at: { line: piece.line } })
    }
  }
  yield* entries.end()
  yield* notes?.rest() ?? []
}

async function factsOf(input: Input): Promise<Facts> {
  const top = new Members()
  const metadata = new Members()
  const own = new Members()
  const names = new Set<string>()
  let hasMessages = false
  let hasNotes = false
  const opens = (path: JsonPath): boolean => {
    const [name, second, third] = path
    if (path.length === 1) names.add(String(name))
    if (path.length === 1 && name === 'messages') hasMessages = true
    if (path.length === 3 && isNotes(path)) hasNotes = true
    return (
      path.length === 0 ||
      (path.length === 1 && (name === 'messages' || name === 'metadata')) ||
      (name === 'metadata' &&
        second === 'wiretape' &&
        (third === undefined || isNotes(path)) &&
        path.length <= 3)
    )
  }
  const skips = (path: JsonPath): boolean => path[0] === 'messages' || (path.length > 3 && isNotes(path))
  for await (const { path, text, fault } of piecesOf(input, opens, skips)) {
    const [name, second, third] = path
    if (path.length === 1) names.add(String(name))
    if (fault !== undefined || isFault(findJsonValue(text))) continue
    const value = onOneLine(text)
    if (path.length === 1) top.add(String(name), value)
    else if (path.length === 2 && name === 'metadata') metadata.add(String(second), value)
    else if (path.length === 3 && second === 'wiretape') own.add(String(third), value)
  }
  const displaced = own.get('displaced')
  if (displaced !== undefined) metadata.add('wiretape', displaced)
  return { top, names, metadata, own, hasMessages, hasNotes }
}

function isNotes([name, second, third]: JsonPath): boolean {
  return name === 'metadata' && second === 'wiretape' && third === 'lines'
}

function opensRoot(path: JsonPath): boolean {
  return path.length === 0 || (path.length === 1 && path[0] === 'messages')
}

function notePieces(input: Input): AsyncGenerator<JsonPiece, void, undefined> {
  const opens = (path: JsonPath): boolean =>
    path.length === 0 ||
    (path.length === 1 && (path[0] === 'metadata' || path[0] === 'messages')) ||
    (path.length === 2 && path[0] === 'metadata' && path[1] === 'wiretape') ||
    (path.length === 3 && isNotes(path))
  return piecesOf(input, opens, (path) => path.length < 4 || !isNotes(path))
}

async function* piecesOf(
  input: Input,
  opens: (path: JsonPath) => boolean,
  skips: (path: JsonPath) => boolean,
): AsyncGenerator<JsonPiece, void, undefined> {
  // A broken message ends where the next begins, with `proxy_id`, or where `metadata` follows the last.
  const pieces = createJsonPieces({ opens, skips, resume: { element: 'proxy_id', after: 'metadata' } })
  let isFirst = true
  for await (const chunk of input.bytes()) {
    yield* pieces.push(isFirst ? withoutBom(chunk) : chunk)
    isFirst = false
  }
  yield* pieces.end()
}

function withoutBom(chunk: Uint8Array): Uint8Array {
  return chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? chunk.subarray(3) : chunk
}

function metaOf(facts: Facts, fault: (message: string) => void): ReturnType<typeof bareMeta> {
  const { top } = facts
  const startedAt = stringOf(top.get('started_at'))
  const startMicros = startedAt === undefined ? undefined : parseMicros(startedAt)
  if (facts.names.has('started_at') && startMicros === undefined) fault('"started_at" is no ISO 8601 time')
  const said = stringOf(top.get('transport'))
  const transport = transports.find((known) => known === said)
  if (facts.names.has('transport') && transport === undefined) {
    fault(`"transport" is ${top.get('transport')?.slice(0, 40)}, not stdio, sse or streamable-http`)
  }
  if (facts.names.has('metadata') && top.get('metadata') !== undefined) fault('"metadata" is no object')
  return bareMeta({
    startedAt: preciseTime(startMicros ?? 0),
    session: stringOf(top.get('id')) ?? '',
    transport: transport ?? 'stdio',
    url: stringOf(top.get('server_url')) ?? null,
    metadata: [...facts.metadata],
    command: commandOf(stringOf(top.get('server_command')) ?? null),
  })
}

function endOf(facts: Facts, fault: (message: string) => void): ReturnType<typeof bareEnd> | undefined {
  const text = facts.top.get('ended_at')
  if (text === undefined || text === 'null') return undefined
  const endMicros = parseMicros(stringOf(text) ?? '')
  if (endMicros === undefined) fault('"ended_at" is no ISO 8601 time')
  return bareEnd('', endMicros)
}

function stringOf(json: string | undefined): string | undefined {
  return json?.startsWith('"') ? (JSON.parse(json) as string) : undefined
}

function objectOf(json: string | undefined): JsonObject | undefined {
  return json !== undefined && kindAt(json, 0) === 'object' ? new JsonObject(json, 0) : undefined
}
