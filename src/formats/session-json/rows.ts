import type { Direction, MessageRecord, MetaRecord } from '../../model/index.js'
import type { Recording } from '../format.js'
import { adopt } from '../adopt.js'
import { createDroppedFrames, type DroppedFrame } from './dropped.js'
import { entryOf } from './entry.js'
import { keptOf, withKeptMembers } from './kept.js'
import type { Members } from './members.js'
import { bareMeta, headOf, type SessionHead } from './session.js'

/** One message in the form of a session file. */
export interface SessionRow {
  readonly sequence: number
  readonly direction: Direction
  readonly method: string | null
  /** A string, or the exact text of a number. */
  readonly jsonrpcId: string | null
  readonly correlatedId: string | null
  readonly modified: boolean
  /** For messages that did not cross the wire: `dropped`, or who answered instead: `person`, `rule NAME`. */
  readonly dropped: string | undefined
  /** JSON text. */
  readonly payload: string
  readonly original: string | undefined
  /** Not a JSON-RPC message; session files keep it in `metadata.wiretape`. */
  readonly invalid: boolean
}

/** A recording of any format, in the form of a session file. */
export interface SessionView {
  readonly id: string
  readonly transport: string
  readonly serverCommand: string | null
  readonly serverUrl: string | null
  /** `none`, or the name of the redaction rules. */
  readonly redaction: string
  rows(): AsyncIterable<SessionRow>
}

export async function viewSession(recording: Recording): Promise<SessionView> {
  const own = adopt(recording)
  const meta = await firstMeta(own)
  const head = headOf(meta, undefined)
  return {
    id: head.id,
    transport: textOf(head.members, 'transport') ?? '',
    serverCommand: textOf(head.members, 'server_command'),
    serverUrl: textOf(head.members, 'server_url'),
    redaction: meta.wiretape?.redaction ?? 'none',
    rows: () => rowsOf(own, head),
  }
}

async function firstMeta(recording: Recording): Promise<MetaRecord> {
  for await (const record of recording.records()) if (record.type === 'meta') return record
  const startedAt = new Date(0).toISOString()
  return bareMeta({ startedAt, session: '', transport: 'stdio', url: null, metadata: [], command: [] })
}

async function* rowsOf(recording: Recording, head: SessionHead): AsyncGenerator<SessionRow, void, undefined> {
  let next = 0
  const droppedFrames = createDroppedFrames()
  for await (const record of recording.records()) {
    for (const frame of droppedFrames.see(record)) yield* rowsOfDropped(frame, head)
    if (record.type !== 'message') continue
    const first = record.seq ?? next
    next = first + record.parts.length
    yield* rowsOfFrame(record, first, head)
  }
  for (const frame of droppedFrames.rest()) yield* rowsOfDropped(frame, head)
}

function* rowsOfDropped({ held, mark }: DroppedFrame, head: SessionHead): Generator<SessionRow> {
  const [name, json] = mark
  const dropped = name === 'dropped' ? name : (JSON.parse(json) as string)
  for (const row of rowsOfFrame({ ...held, type: 'message' }, held.seq ?? 0, head)) yield { ...row, dropped }
}

function* rowsOfFrame(record: MessageRecord, first: number, head: SessionHead): Generator<SessionRow> {
  for (const [i, part] of record.parts.entries()) {
    const place = { proxyId: part.id ?? '', sequence: first + i, correlatedId: part.correlatedId }
    const ours = entryOf(record, part, place, head)
    const entry = record.batch ? ours : withKeptMembers(ours, keptOf(record.extra))
    const id = entry.get('jsonrpc_id')!
    yield {
      sequence: first + i,
      direction: record.direction,
      method: textOf(entry, 'method'),
      jsonrpcId: id === 'null' ? null : (textOf(entry, 'jsonrpc_id') ?? id),
      correlatedId: textOf(entry, 'correlated_id'),
      modified: entry.get('modified') === 'true',
      dropped: undefined,
      payload: entry.get('payload')!,
      original: entry.get('original_payload'),
      invalid: part.envelope.kind === 'invalid',
    }
  }
}

function textOf(members: Members, name: string): string | null {
  const json = members.get(name)
  return json?.startsWith('"') ? (JSON.parse(json) as string) : null
}
