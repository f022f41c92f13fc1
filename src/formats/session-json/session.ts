import {
  joinCommandLine,
  splitCommandLine,
  type EndRecord,
  type JsonMembers,
  type MetaRecord,
  type Transport,
} from '../../model/index.js'
import { JsonObject } from '../../wire/index.js'
import { decodeLine, encodeRecord } from '../trace-v1/index.js'
import { keptName, keptOf, Members } from './members.js'
import { parseMicros, preciseTime, sessionTime } from './time.js'

/** What a session file says beside its messages. */
export interface SessionHead {
  readonly id: string
  /** Microseconds since the epoch. */
  readonly startMicros: number
  readonly transport: Transport
  /** `id` to `server_url`, in the documented order. */
  readonly members: Members
  /** Unknown members of the file. */
  readonly others: JsonMembers
  readonly metadata: JsonMembers
  /** What the documented members cannot say of the tape's first and last line, as members of such lines. */
  readonly meta: Members
  readonly end: Members
}

const known = ['id', 'started_at', 'ended_at', 'transport', 'server_command', 'server_url', 'metadata']

/** @param end the last line, when the tape has one */
export function headOf(meta: MetaRecord, end: EndRecord | undefined): SessionHead {
  const identity = meta.wiretape
  const id = identity?.session ?? madeUpId(meta)
  const startMicros = parseMicros(meta.startedAt) ?? 0
  const transport = identity?.transport ?? 'stdio'
  const metadata = identity?.metadata ?? []
  const url = identity?.url ?? null
  const command = meta.command.length === 0 ? null : joinCommandLine(meta.command)
  const endMicros = end && parseMicros(end.t)
  const kept = keptOf(meta.extra)
  const members = new Members()
    .text('id', id)
    .text('started_at', sessionTime(startMicros))
    .text('ended_at', endMicros === undefined ? null : sessionTime(endMicros))
    .text('transport', transport)
    .text('server_command', command)
    .text('server_url', url)
  for (const [name, json] of kept) if (members.get(name) !== undefined) members.add(name, json)
  const shown = { startedAt: preciseTime(startMicros), session: id, transport, url, metadata }
  return {
    id,
    startMicros,
    transport,
    members,
    others: kept.filter(([name]) => !known.includes(name) && name !== 'messages'),
    metadata,
    meta: beside(encodeRecord(meta), encodeRecord(bareMeta({ ...shown, command: commandOf(command) }))),
    end: end ? beside(encodeRecord(end), encodeRecord(bareEnd(end.t, endMicros))) : new Members(),
  }
}

/** The first line of a tape as the documented members alone would give it. */
export function bareMeta(said: {
  startedAt: string
  session: string
  transport: Transport
  url: string | null
  metadata: JsonMembers
  command: readonly string[]
}): MetaRecord {
  const { startedAt, command, session, transport, url, metadata } = said
  return {
    type: 'meta',
    startedAt,
    label: url === null ? labelOf(command) : hostOf(url),
    command,
    wiretape: { version: '', session, transport, url, segment: 0, redaction: 'none', metadata },
  }
}

/** What a person would call the server: its program, or what a launcher was told to run. */
function labelOf(command: readonly string[]): string {
  const [program = '', script] = command.filter((word) => !word.startsWith('-'))
  const name = script ?? program
  return name.slice(name.lastIndexOf('/') + 1) || name
}

function hostOf(url: string): string {
  return /^[a-z]+:\/\/(?:[^/@]*@)?([^/?#:]+)/i.exec(url)?.[1] ?? url
}

/** The last line as `ended_at` alone would give it. */
export function bareEnd(t: string, endMicros: number | undefined): EndRecord {
  return {
    type: 'end',
    t: endMicros === undefined ? t : preciseTime(endMicros),
    exitCode: null,
    durationMs: null,
  }
}

export function commandOf(serverCommand: string | null): readonly string[] {
  if (serverCommand === null) return []
  const split = splitCommandLine(serverCommand)
  return 'fault' in split ? [serverCommand] : split.words
}

/** The members of a line that another line does not have in the same way; `wiretape` member by member. */
function beside(line: string, bare: string): Members {
  const ours = new JsonObject(line.trimEnd(), 0)
  const theirs = new JsonObject(bare.trimEnd(), 0)
  const rest = new Members()
  for (const [name, json] of ours.others(['type', 'v', 'wiretape', keptName])) {
    if (theirs.raw(name) !== json) rest.add(name, json)
  }
  const own = new Members()
  for (const [name, json] of ours.object('wiretape')?.others() ?? []) {
    if (theirs.object('wiretape')?.raw(name) !== json) own.add(name, json)
  }
  if (own.size > 0) rest.add('wiretape', String(own))
  return rest
}

/** Puts what a file kept beside a bare line back into it. Undefined when that makes no such line. */
export function withKept<T extends MetaRecord | EndRecord>(
  bare: T,
  kept: JsonObject | undefined,
  extra: Members,
): T {
  const base = new JsonObject(encodeRecord(bare).trimEnd(), 0)
  const line = new Members().addAll(base.others())
  const own = new Members().addAll(base.object('wiretape')?.others() ?? [])
  for (const [name, json] of kept?.others(['type', 'v', 'wiretape']) ?? []) line.add(name, json)
  own.addAll(kept?.object('wiretape')?.others() ?? [])
  if (own.size > 0) line.add('wiretape', String(own))
  if (extra.size > 0) line.add(keptName, String(extra))
  const decoded = decodeLine(String(line))
  return 'record' in decoded && decoded.record.type === bare.type ? (decoded.record as T) : bare
}

/** A UUID (RFC 9562, version 8) for a tape that has none: the same for the same tape. */
export function madeUpId(meta: MetaRecord): string {
  const name = JSON.stringify([meta.startedAt, meta.label, meta.command])
  const hex = [1, 2, 3, 4].map((seed) => fnv1a(`${seed}${name}`).toString(16).padStart(8, '0')).join('')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-')
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
