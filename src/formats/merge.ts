import {
  isMeasurable,
  mergedIn,
  noTime,
  type EndRecord,
  type HttpContext,
  type MergedRecording,
  type MetaRecord,
  type Part,
  type TapeRecord,
} from '../model/index.js'
import { adopt } from './adopt.js'
import type { Recording } from './format.js'
import { bareMeta, madeUpId } from './session-json/session.js'
import { parseMicros, tapeTime } from './session-json/time.js'

/** Recordings named in the label of the merged one. */
const mostNamed = 4

/** One of several recordings, and its form in the merged one. */
interface Lane {
  readonly meta: MetaRecord | undefined
  /** Name of its conversations. */
  readonly name: string
  /** Prefixes ids that another recording may also have. */
  readonly prefix: (id: string) => string
  /** Keeps HTTP exchange numbers of different recordings distinct. */
  readonly exchangeOf: (exchange: number) => number
}

type Placed = Exclude<TapeRecord, { type: 'unknown' | 'meta' | 'end' }>

interface LanePlace {
  readonly lane: Lane
  /** Microseconds since the epoch. */
  at: number
  /** Start of its session. */
  startMicros: number
}

interface Ahead extends LanePlace {
  readonly records: AsyncIterator<TapeRecord>
  record: TapeRecord
}

/**
 * Merges several recordings by time: each becomes one or more conversations, so that equal ids stay apart. Clocks
 * are trusted.
 */
export async function mergeRecordings(recordings: readonly Recording[]): Promise<Recording> {
  const metas = await Promise.all(recordings.map(firstMeta))
  const lanes = lanesOf(metas)
  const adopted = recordings.map((recording) => adopt(recording))
  const startMicros = startOf(lanes)
  return { records: () => mergedRecords(lanes, adopted, startMicros) }
}

/** Merges records of live recordings, in order of arrival. */
export interface LiveMerge {
  readonly meta: MetaRecord
  /** Time of a record, in microseconds since the epoch. */
  momentOf(recording: number, record: TapeRecord): number
  /** The record as part of the merged recording; undefined for first and last records. */
  place(recording: number, record: TapeRecord): TapeRecord | undefined
}

/** @param metas the first record of each recording */
export function mergeLive(metas: readonly MetaRecord[]): LiveMerge {
  const lanes = lanesOf(metas)
  const startMicros = startOf(lanes)
  const places = lanes.map((lane): LanePlace => {
    return { lane, at: startMicros, startMicros: parseMicros(lane.meta?.startedAt ?? '') ?? startMicros }
  })
  return {
    meta: mergedMeta(lanes, startMicros),
    momentOf: (recording, record) => momentOf(record, places[recording]!),
    place(recording, record) {
      if (record.type === 'meta' || record.type === 'end') return undefined
      const place = places[recording]!
      place.at = momentOf(record, place)
      return placed(place, record, startMicros)
    },
  }
}

function startOf(lanes: readonly Lane[]): number {
  const starts = lanes
    .filter(({ meta }) => meta?.startedAt !== noTime)
    .map(({ meta }) => parseMicros(meta?.startedAt ?? ''))
    .filter((start) => start !== undefined)
  const first = starts.length === 0 ? 0 : starts.reduce((a, b) => Math.min(a, b))
  return Math.floor(first / 1000) * 1000
}

function lanesOf(metas: readonly (MetaRecord | undefined)[]): Lane[] {
  const lanes: Lane[] = []
  const names = new Set<string>()
  const sessions = new Set<string>()
  for (const [number, meta] of metas.entries()) {
    const label = meta?.label === undefined || meta.label === '' ? `recording ${number + 1}` : meta.label
    const name = names.has(label) ? `${label} (${number + 1})` : label
    names.add(name)
    const session = meta?.wiretape?.session
    const isCopy = session === undefined || sessions.has(session)
    if (session !== undefined) sessions.add(session)
    const prefix = (id: string): string => (isCopy || !isUuid(id) ? `${number + 1}-${id}` : id)
    const exchangeOf = (exchange: number): number => exchange * metas.length + number
    lanes.push({ meta, name, prefix, exchangeOf })
  }
  return lanes
}

function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(id)
}

async function firstMeta(recording: Recording): Promise<MetaRecord | undefined> {
  for await (const record of recording.records()) return record.type === 'meta' ? record : undefined
  return undefined
}

async function* mergedRecords(
  lanes: readonly Lane[],
  recordings: readonly Recording[],
  startMicros: number,
): AsyncGenerator<TapeRecord, void, undefined> {
  yield mergedMeta(lanes, startMicros)
  const ahead: Ahead[] = []
  let ended = 0
  let lastMicros = startMicros

  /** Advances to the next record for the merged recording; false at the end. */
  async function advance(one: Ahead): Promise<boolean> {
    for (;;) {
      const { value, done } = await one.records.next()
      if (done) return false
      if (value.type === 'meta') {
        if (value.startedAt !== noTime) one.startMicros = parseMicros(value.startedAt) ?? one.startMicros
        continue
      }
      if (value.type === 'end') {
        if (!value.wiretape?.rotated) ended += 1
        if (value.t !== noTime) lastMicros = Math.max(lastMicros, parseMicros(value.t) ?? lastMicros)
        continue
      }
      one.record = value
      one.at = momentOf(value, one)
      return true
    }
  }

  try {
    for (const [number, lane] of lanes.entries()) {
      const records = recordings[number]!.records()[Symbol.asyncIterator]()
      const one: Ahead = { lane, records, record: undefined as never, at: startMicros, startMicros }
      if (await advance(one)) ahead.push(one)
    }
    for (;;) {
      let first: Ahead | undefined
      for (const one of ahead) if (!first || one.at < first.at) first = one
      if (!first) break
      lastMicros = Math.max(lastMicros, first.at)
      yield placed(first, first.record, startMicros)
      if (!(await advance(first))) ahead.splice(ahead.indexOf(first), 1)
    }
  } finally {
    for (const { records } of ahead) await records.return?.()
  }
  if (ended >= lanes.length) yield mergedEnd(lastMicros, startMicros)
}

/** A record without a time gets the time of the previous one. */
function momentOf(record: TapeRecord, { lane, startMicros, at }: LanePlace): number {
  if (saysNoTime(record, lane)) return at
  if ('us' in record && record.us !== undefined && isMeasurable(record.us)) return startMicros + record.us
  return ('t' in record && record.t !== undefined ? parseMicros(record.t) : undefined) ?? at
}

/** Whether its recording has no times. */
function saysNoTime(record: TapeRecord, { meta }: Lane): boolean {
  return meta?.startedAt === noTime && 't' in record && record.t === noTime
}

function placed({ lane, at }: LanePlace, record: TapeRecord, startMicros: number): TapeRecord {
  if (record.type === 'unknown' || record.type === 'meta' || record.type === 'end') return record
  const moved = saysNoTime(record, lane) ? withoutTime(record, at) : { ...record, us: at - startMicros }
  if ('parts' in moved) {
    const { seq: _seq, ...rest } = moved
    return { ...rest, ...around(moved, lane), parts: moved.parts.map((part) => renamed(part, lane)) }
  }
  if (moved.type === 'http')
    return { ...moved, ...around(moved, lane), exchange: lane.exchangeOf(moved.exchange) }
  if ('id' in moved) return { ...moved, id: lane.prefix(moved.id) }
  if ('about' in moved && moved.about !== undefined) return { ...moved, about: lane.prefix(moved.about) }
  return moved
}

/** A record without a time, next to recordings that have times. */
function withoutTime(record: Placed, at: number): Placed {
  const { us: _us, ...rest } = record
  const t = tapeTime(at)
  return rest.type === 'message' && t !== noTime ? { ...rest, t, untimed: true } : { ...rest, t }
}

function around(
  record: { readonly conversation?: string; readonly http?: HttpContext },
  lane: Lane,
): { conversation: string; http?: HttpContext } {
  const { conversation, http } = record
  return {
    conversation: conversation === undefined ? lane.name : `${lane.name} ${conversation}`,
    ...(http && { http: { ...http, exchange: lane.exchangeOf(http.exchange) } }),
  }
}

function renamed(part: Part, { prefix }: Lane): Part {
  const { id, correlatedId, duplicateOf, links } = part
  return {
    ...part,
    ...(id !== undefined && { id: prefix(id) }),
    ...(correlatedId !== undefined && { correlatedId: prefix(correlatedId) }),
    ...(duplicateOf !== undefined && { duplicateOf: prefix(duplicateOf) }),
    ...(links && { links: links.map(({ kind, to }) => ({ kind, to: prefix(to) })) }),
  }
}

function mergedMeta(lanes: readonly Lane[], startMicros: number): MetaRecord {
  const identities = lanes.map(({ meta }) => meta?.wiretape)
  const transports = new Set(identities.map((identity) => identity?.transport ?? 'stdio'))
  const urls = new Set(identities.map((identity) => identity?.url ?? null))
  const redactions = new Set(identities.map((identity) => identity?.redaction ?? 'none'))
  const merged = lanes.flatMap(({ name, meta }) => [
    {
      conversation: name,
      startedAt: meta?.startedAt ?? null,
      session: meta?.wiretape?.session ?? null,
      transport: meta?.wiretape?.transport ?? 'stdio',
      command: meta?.command ?? [],
      url: meta?.wiretape?.url ?? null,
    },
    ...mergedBefore(name, meta),
  ])
  const bare = bareMeta({
    startedAt: tapeTime(startMicros),
    session: '',
    transport: [...transports][0]!,
    url: urls.size === 1 ? [...urls][0]! : null,
    metadata: [['merged', JSON.stringify(merged)]],
    command: [],
  })
  const names = lanes.map(({ name }) => name)
  const more = names.splice(mostNamed).length
  const label = [...names, ...(more > 0 ? [`${more} more`] : [])].join(' + ')
  const meta = { ...bare, label }
  const redaction = redactions.size === 1 ? [...redactions][0]! : 'mixed'
  return { ...meta, wiretape: { ...bare.wiretape!, session: madeUpId(meta), redaction } }
}

/** The parts of a recording that is itself a merged one. */
function mergedBefore(name: string, meta: MetaRecord | undefined): readonly MergedRecording[] {
  const parts = mergedIn(meta?.wiretape?.metadata ?? []) ?? []
  return parts.map((part) => ({ ...part, conversation: `${name} ${part.conversation}` }))
}

function mergedEnd(lastMicros: number, startMicros: number): EndRecord {
  const durationMs = Math.round((lastMicros - startMicros) / 1000)
  return { type: 'end', t: tapeTime(lastMicros), exitCode: null, durationMs }
}
