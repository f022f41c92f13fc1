import {
  joinCommandLine,
  type EndRecord,
  type JsonMembers,
  type MetaRecord,
  type Transport,
} from '../../model/index.js'
import { JsonObject } from '../../wire/index.js'
import { decodeLine, encodeRecord } from '../trace-v1/index.js'
import { isDemanding, isWellFormed } from './demanding.js'
import { differing, keptName, keptOf, withKeptHead } from './kept.js'
import { Members, mergedLine, objectText } from './members.js'
import { commandOf } from './server-command.js'
import { parseMicros, sessionTime, tapeTime } from './time.js'

/** Data of a session file other than its messages. */
export interface SessionHead {
  readonly id: string
  /** Microseconds since the epoch. */
  readonly startMicros: number
  readonly transport: Transport
  /** `id` to `server_url`, in the documented order. */
  readonly members: Members
  /** Unknown members of the file. */
  readonly others: JsonMembers
  /** Members of `metadata`, except for `wiretape`. */
  readonly metadata: JsonMembers
  /** A user's own value under that name. */
  readonly displaced: string | undefined
  /** Members of the tape's first and last line that the documented members cannot express. */
  readonly meta: JsonMembers
  readonly end: JsonMembers
}

/** @param end the last line, when the tape has one */
export function headOf(meta: MetaRecord, end: EndRecord | undefined): SessionHead {
  const ours = documentedOf(meta, end)
  const inFile = withKeptHead(new Members().addAll([...ours]), keptOf(meta.extra))
  const metadata = new Members().addAll(meta.wiretape?.metadata ?? [])
  const shown = [...metadata].filter(([name, json]) => isWellFormed(name) && !isDemanding(json))
  const displaced = shown.find(([name]) => name === 'wiretape')
  const others = shown.filter((member) => member !== displaced)
  const startMicros = parseMicros(meta.startedAt) ?? 0
  const transport = meta.wiretape?.transport ?? 'stdio'
  const url = textOf(ours, 'server_url')
  const bare = bareMeta({
    startedAt: tapeTime(startMicros),
    session: textOf(ours, 'id') ?? '',
    transport,
    url,
    command: commandOf(textOf(ours, 'server_command')),
    metadata: displaced ? [...others, displaced] : others,
  })
  return {
    id: bare.wiretape!.session,
    startMicros,
    transport,
    members: new Members().addAll([...inFile].filter(([name]) => ours.get(name) !== undefined)),
    others: [...inFile].filter(([name]) => ours.get(name) === undefined),
    metadata: others,
    displaced: displaced?.[1],
    meta: metaBeside(meta, bare, objectText(differing(inFile, ours))),
    end: end ? endBeside(end, beganOf(meta)) : [],
  }
}

/** The documented members for a recording. */
function documentedOf(meta: MetaRecord, end: EndRecord | undefined): Members {
  const identity = meta.wiretape
  const endMicros = end && parseMicros(end.t)
  const command = meta.command.length === 0 ? null : joinCommandLine(meta.command)
  const writable = (text: string | null | undefined): string | null =>
    typeof text === 'string' && isWellFormed(text) ? text : null
  return new Members()
    .text('id', writable(identity?.session) ?? madeUpId(meta))
    .text('started_at', sessionTime(parseMicros(meta.startedAt) ?? 0))
    .text('ended_at', endMicros === undefined ? null : sessionTime(endMicros))
    .text('transport', identity?.transport ?? 'stdio')
    .text('server_command', writable(command))
    .text('server_url', writable(identity?.url))
}

function textOf(members: Members, name: string): string | null {
  return JSON.parse(members.get(name) ?? 'null') as string | null
}

/** The first line of a tape, derived from the documented members alone. */
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

/** Short name of the server: its program, or the argument of a launcher. */
function labelOf(command: readonly string[]): string {
  const [program = '', script] = command.filter((word) => !word.startsWith('-'))
  const name = script ?? program
  return name.slice(name.lastIndexOf('/') + 1) || name
}

function hostOf(url: string): string {
  return /^[a-z]+:\/\/(?:[^/@]*@)?([^/?#:]+)/i.exec(url)?.[1] ?? url
}

/** The start of a session file that no wiretape recorder wrote: its last line is inferred from it. */
interface Began {
  readonly startMicros: number
  readonly transport: Transport
}

/** @returns undefined for a recorder's tape, which records its own end */
export function beganOf({ startedAt, wiretape }: MetaRecord): Began | undefined {
  const startMicros = parseMicros(startedAt)
  if (startMicros === undefined || wiretape?.version !== '') return undefined
  return { startMicros, transport: wiretape.transport }
}

/** The last line, derived from `ended_at`. HTTP servers have no exit code, which tapes write as 0. */
export function bareEnd(t: string, endMicros: number | undefined, began?: Began): EndRecord {
  const end = endMicros === undefined ? t : tapeTime(endMicros)
  return {
    type: 'end',
    t: end,
    exitCode: began === undefined || began.transport === 'stdio' ? null : 0,
    durationMs: endMicros === undefined || !began ? null : elapsedMs(began.startMicros, endMicros),
  }
}

/** Milliseconds between two times, rounded like those of a tape. */
function elapsedMs(startMicros: number, endMicros: number): number {
  return Math.max(0, Math.floor(endMicros / 1000) - Math.floor(startMicros / 1000))
}

/** @param derivedKept the value that a reader derives from members in another form than wiretape's */
function metaBeside(meta: MetaRecord, bare: MetaRecord, derivedKept: string): JsonMembers {
  const line = new JsonObject(encodeRecord(meta).trimEnd(), 0)
  const theirs = new JsonObject(encodeRecord(bare).trimEnd(), 0)
  const isLast = meta.extra?.findIndex(([name]) => name === keptName) === (meta.extra?.length ?? 0) - 1
  const isDerived = isLast && derivedKept !== '{}' && line.raw(keptName) === derivedKept
  const rest = beside(line, theirs, meta.extra, ['type', 'v', 'wiretape', ...(isDerived ? [keptName] : [])])
  const identity = line.object('wiretape')
  const own = identity ? beside(identity, theirs.object('wiretape')!, meta.wiretape?.extra, []) : []
  return own.length > 0 ? [...rest, ['wiretape', objectText(own)]] : rest
}

function endBeside(end: EndRecord, began: Began | undefined): JsonMembers {
  const line = new JsonObject(encodeRecord(end).trimEnd(), 0)
  const theirs = new JsonObject(encodeRecord(bareEnd(end.t, parseMicros(end.t), began)).trimEnd(), 0)
  return beside(line, theirs, end.extra, ['type'])
}

/** The members of an object that differ from another's; unknown ones all together, in order. */
function beside(
  object: JsonObject,
  theirs: JsonObject,
  extra: JsonMembers | undefined,
  known: readonly string[],
): JsonMembers {
  const unknown = new Set(extra?.map(([name]) => name))
  return object.others(known).filter(([name, json]) => unknown.has(name) || theirs.raw(name) !== json)
}

/** Merges members that a file kept into a bare line. Returns the bare line if the result is invalid. */
export function withBeside<T extends MetaRecord | EndRecord>(
  bare: T,
  kept: JsonObject | undefined,
  derivedKept: JsonMembers,
): T {
  const base = new JsonObject(encodeRecord(bare).trimEnd(), 0)
  const identity = base.object('wiretape')
  const never = identity ? ['type', 'v', 'wiretape'] : ['type', 'v']
  const line = [...mergedLine(base.others(['wiretape']), kept?.others(never) ?? [])]
  if (identity) {
    const own = mergedLine(identity.others(), kept?.object('wiretape')?.others() ?? [])
    line.push(['wiretape', objectText(own)])
  }
  if (derivedKept.length > 0 && kept?.has(keptName) !== true) line.push([keptName, objectText(derivedKept)])
  const decoded = decodeLine(objectText(line))
  return 'record' in decoded && decoded.record.type === bare.type ? (decoded.record as T) : bare
}

/** A UUID (RFC 9562, version 8) for a tape without one: the same for the same tape. */
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
