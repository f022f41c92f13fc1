import { WiretapeError, type Report, type TapeRecord, type Transport } from '../../model/index.js'
import { tellsMark } from '../byte-order-mark.js'
import type { Input } from '../format.js'
import { messagesOnly, notesOnly, walk } from './document.js'
import { decodeEntry } from './entry-file.js'
import type { EntryContext } from './entry.js'
import { factsOf, type Facts } from './facts.js'
import { differing } from './kept.js'
import { createEntryReader, keptLine, type EntryReader } from './read-entry.js'
import { readNotes, type Notes } from './read-notes.js'
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
 * The records of a session file: its head as a `meta` line, its messages, what `metadata.wiretape` keeps
 * between them, and an `end` line when the session ended. The file is gone through several times, since
 * `metadata` stands last; no payload but the current one is held.
 */
export async function* readSession(input: Input, report: Report): AsyncIterable<TapeRecord> {
  const facts = await factsOf(input)
  const missing = required.filter((name) => !facts.names.has(name))
  if (missing.length > required.length - 2) {
    throw new WiretapeError('not-a-recording', 'it holds no session', { hint: 'Is it the right file?' })
  }
  if (missing.length > 0) fault(`the session has no ${missing.map((name) => `"${name}"`).join(', ')}`)
  for (const name of facts.repeated) fault(`"${name}" stands there more than once`)
  if (facts.problem !== undefined) {
    report({ severity: 'warning', code: 'unknown-metadata', message: facts.problem })
  }
  function fault(message: string): void {
    report({ severity: 'error', code: 'bad-session', message })
  }

  const meta = metaOf(facts, fault)
  // A tape may say its start more exactly than the documented member.
  const whole = withBeside(meta, facts.own?.meta, [])
  const startMicros = parseMicros(whole.startedAt) ?? parseMicros(meta.startedAt)!
  const context = { startMicros, transport: meta.wiretape!.transport }
  const bare = endOf(facts, beganOf(whole), fault)
  const end = bare && withBeside(bare, facts.own?.end, [])
  const kept = differing(facts.top, headOf(whole, end).members)
  yield withBeside(meta, facts.own?.meta, kept)
  const entries = createEntryReader(context, facts.own?.without ?? [], report)
  const notes = facts.own?.hasNotes ? readNotes(walk(input, notesOnly), report) : undefined
  try {
    yield* messagesOf(input, { context, entries, notes, report })
  } finally {
    await notes?.close()
  }
  if (end) yield end
  else if (facts.top.get('ended_at') === 'null') {
    const message =
      '"ended_at" is null: cut off, still being recorded, or by a version that never fills it in'
    report({ severity: 'warning', code: 'incomplete', message })
  }
}

async function* messagesOf(
  input: Input,
  {
    context,
    entries,
    notes,
    report,
  }: {
    readonly context: EntryContext
    readonly entries: EntryReader
    readonly notes: Notes | undefined
    readonly report: Report
  },
): AsyncGenerator<TapeRecord, void, undefined> {
  for await (const piece of walk(input, { ...messagesOnly, ...tellsMark(report) })) {
    const [name, number] = piece.path
    if (name !== 'messages' || typeof number !== 'number') {
      if (piece.fault === undefined) continue
      const message = `not valid JSON: ${piece.fault}`
      report({ severity: 'error', code: 'not-json', message, at: { line: piece.line } })
      continue
    }
    const { entry, problem } = decodeEntry(piece, number, context)
    if (problem !== undefined) {
      const message = `${piece.between ? 'before ' : ''}message ${number}: ${problem}`
      report({ severity: 'error', code: 'bad-entry', message, at: { line: piece.line } })
    }
    if (piece.between) continue
    const said = await notes?.next(number, entry?.proxyId)
    if (said && said.before.length > 0) {
      yield* entries.end()
      for (const line of said.before) entries.see(line)
      yield* said.before
    }
    if (entry) yield* entries.take(entry, said?.frame)
    else {
      yield* entries.end()
      yield keptLine(piece)
    }
  }
  yield* entries.end()
  if (notes) yield* notes.rest()
}

function metaOf(facts: Facts, fault: (message: string) => void): ReturnType<typeof bareMeta> {
  const { top, names } = facts
  const startMicros = parseMoment(top.get('started_at') ?? 'null')
  if (names.has('started_at') && startMicros === undefined) fault('"started_at" is no ISO 8601 time')
  const id = stringOf(top.get('id'))
  if (names.has('id') && id === undefined) fault('"id" is no string')
  const said = stringOf(top.get('transport'))
  const transport = transports.find((known) => known === said)
  if (names.has('transport') && transport === undefined) {
    fault(`"transport" is ${top.get('transport')?.slice(0, 40)}, not stdio, sse or streamable-http`)
  }
  for (const name of ['server_command', 'server_url']) {
    const text = top.get(name) ?? 'null'
    if (text !== 'null' && !text.startsWith('"')) fault(`"${name}" is neither a string nor null`)
  }
  if (top.get('metadata') !== undefined) fault('"metadata" is no object')
  if (names.has('messages') && facts.messages !== 'array') fault('"messages" is no array')
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
  if (endMicros === undefined) fault('"ended_at" is no ISO 8601 time')
  return endMicros === undefined ? undefined : bareEnd('', endMicros, began)
}

function stringOf(json: string | undefined): string | undefined {
  return json?.startsWith('"') ? (JSON.parse(json) as string) : undefined
}
