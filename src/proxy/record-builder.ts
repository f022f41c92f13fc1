import { createHash, randomUUID, type Hash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import {
  createCorrelator,
  type Correlator,
  type Direction,
  type FrameEnd,
  type Link,
  type MessageRecord,
  type Part,
  type TapeRecord,
} from '../model/index.js'
import {
  createLineFramer,
  elementsOf,
  findJsonValue,
  idKey,
  isFault,
  kindAt,
  readEnvelope,
  type LineFrame,
  type LineFramer,
} from '../wire/index.js'
import type { Channel } from './channel.js'

/** Messages above this are forwarded and leave a gap with their size and hash. */
const longestMessage = 64 * 1024 * 1024
/** Longer lines of stderr are recorded in pieces. */
const longestStderr = 65_536
/** Messages remembered for the case that it turns out later that they were never delivered. */
const rememberedForDelivery = 4_096

/** When bytes were seen, by both clocks. */
export interface Moment {
  /** Microseconds since the session began, monotonic. */
  readonly us: number
  /** Milliseconds since the epoch. */
  readonly wallMs: number
}

/**
 * Turns what passed on the three channels of a stdio server into records, in the order of arrival: frames,
 * exact text, numbers, ids, links. Nothing is parsed and printed again.
 */
export interface RecordBuilder {
  bytes(channel: Channel, bytes: Uint8Array, at: Moment): TapeRecord[]
  /** The channel ended; a last line without a line end is a frame of its own. */
  ended(channel: Channel, at: Moment): TapeRecord[]
  /** Bytes passed that are not here. @param atLineStart the next byte begins a line */
  lost(
    channel: Channel,
    loss: { bytes: number; lines: number; atLineStart: boolean; why: string },
    at: Moment,
  ): TapeRecord[]
  /** Only `deliveredBytes` of the channel reached the other side. */
  undelivered(channel: 'in' | 'out', deliveredBytes: number, why: string, at: Moment): TapeRecord[]
}

interface Delivery {
  readonly id: string
  readonly endOffset: number
}

export function createRecordBuilder(): RecordBuilder {
  const framers: Record<Channel, LineFramer> = {
    in: createLineFramer({ maxBytes: longestMessage }),
    out: createLineFramer({ maxBytes: longestMessage }),
    err: createLineFramer({ maxBytes: longestStderr }),
  }
  const correlator: Correlator<string> = createCorrelator(idKey)
  const oversize: Record<Channel, { hash: Hash; bytes: number } | undefined> = {
    in: undefined,
    out: undefined,
    err: undefined,
  }
  const sent: Record<'in' | 'out', Delivery[]> = { in: [], out: [] }
  let seq = 0
  let clock = { ms: -1, t: '' }

  function stamp(at: Moment): { t: string; us: number } {
    const ms = Math.floor(at.wallMs)
    if (ms !== clock.ms) clock = { ms, t: new Date(ms).toISOString() }
    return { t: clock.t, us: Math.round(at.us) }
  }

  function take(channel: Channel, frames: readonly LineFrame[], at: Moment): TapeRecord[] {
    const records: TapeRecord[] = []
    for (const frame of frames) {
      const record = channel === 'err' ? stderrRecord(frame, at) : messageRecord(channel, frame, at)
      if (record) records.push(record)
    }
    return records
  }

  function stderrRecord(frame: LineFrame, at: Moment): TapeRecord | undefined {
    if (frame.kind === 'line') {
      return { type: 'stderr', ...stamp(at), ...textOf(frame.bytes), ...frameEndOf(frame.end) }
    }
    if (frame.bytes.length === 0) return undefined
    return { type: 'stderr', ...stamp(at), ...textOf(frame.bytes), ...(frame.last ? {} : frameEndOf('none')) }
  }

  function messageRecord(channel: 'in' | 'out', frame: LineFrame, at: Moment): TapeRecord | undefined {
    const direction: Direction = channel === 'in' ? 'client_to_server' : 'server_to_client'
    if (frame.kind === 'piece') return oversizeRecord(channel, direction, frame, at)
    if (!isUtf8(frame.bytes))
      return { type: 'noise', ...stamp(at), direction, ...textOf(frame.bytes), ...frameEndOf(frame.end) }
    const text = decode(frame.bytes)
    const span = findJsonValue(text)
    if (isFault(span) || !holdsMessages(text, span.start)) {
      return { type: 'noise', ...stamp(at), direction, text, ...frameEndOf(frame.end) }
    }
    const exact = text.slice(span.start, span.end)
    // A tape is read line by line, by some readers with CR as a line end; here both are only white space.
    const raw = exact.includes('\r') ? exact.replaceAll('\r', ' ') : exact
    const batch = kindAt(raw, 0) === 'array'
    const spans = batch ? elementsOf(raw, 0) : [{ start: 0, end: raw.length }]
    const parts = spans.map(({ start, end }) => partOf(raw, start, end, direction))
    const record: MessageRecord = {
      type: 'message',
      ...stamp(at),
      direction,
      raw,
      batch,
      parts,
      seq,
      ...frameEndOf(frame.end),
      ...(raw.length !== text.length || raw !== exact ? { bytes: base64(frame.bytes) } : {}),
    }
    seq += parts.length
    remember(channel, parts, frame.endOffset)
    return record
  }

  function partOf(raw: string, start: number, end: number, direction: Direction): Part {
    const id: string = randomUUID()
    const envelope = readEnvelope(raw, start)
    const seen = correlator.observe({ ref: id, envelope, direction, conversation: '' })
    return {
      id,
      envelope,
      start,
      end,
      ...(seen.answers !== undefined && { correlatedId: seen.answers }),
      ...(seen.late && { late: true as const }),
      ...(seen.duplicateOf !== undefined && { duplicateOf: seen.duplicateOf }),
      ...(seen.links.length > 0 && { links: seen.links satisfies readonly Link[] }),
    }
  }

  function oversizeRecord(
    channel: 'in' | 'out',
    direction: Direction,
    frame: Extract<LineFrame, { kind: 'piece' }>,
    at: Moment,
  ): TapeRecord | undefined {
    const current = (oversize[channel] ??= { hash: createHash('sha256'), bytes: 0 })
    current.hash.update(frame.bytes)
    current.bytes += frame.bytes.length
    if (!frame.last) return undefined
    oversize[channel] = undefined
    seq += 1
    return {
      type: 'gap',
      ...stamp(at),
      lost: 1,
      lostBytes: current.bytes,
      why: `a message of more than ${longestMessage / 1024 / 1024} MB was forwarded but not recorded`,
      direction,
      sha256: current.hash.digest('hex'),
    }
  }

  function remember(channel: 'in' | 'out', parts: readonly Part[], endOffset: number): void {
    const list = sent[channel]
    for (const part of parts) list.push({ id: part.id!, endOffset })
    if (list.length > 2 * rememberedForDelivery) list.splice(0, list.length - rememberedForDelivery)
  }

  return {
    bytes: (channel, bytes, at) => take(channel, framers[channel].push(bytes), at),
    ended: (channel, at) => take(channel, framers[channel].end(), at),
    lost(channel, loss, at) {
      framers[channel].lose(loss.bytes, loss.atLineStart)
      oversize[channel] = undefined
      const lines = loss.lines + (loss.atLineStart ? 0 : 1)
      if (channel === 'err') {
        return [
          { type: 'gap', ...stamp(at), lost: 0, lostStderr: lines, lostBytes: loss.bytes, why: loss.why },
        ]
      }
      seq += lines
      const direction: Direction = channel === 'in' ? 'client_to_server' : 'server_to_client'
      return [{ type: 'gap', ...stamp(at), lost: lines, lostBytes: loss.bytes, why: loss.why, direction }]
    },
    undelivered(channel, deliveredBytes, why, at) {
      const records = sent[channel]
        .filter((delivery) => delivery.endOffset > deliveredBytes)
        .map(({ id }): TapeRecord => ({ type: 'undelivered', ...stamp(at), id, why }))
      sent[channel] = []
      return records
    },
  }
}

/** A JSON-RPC message or a batch of them, as far as the outermost shape tells. */
function holdsMessages(text: string, start: number): boolean {
  const kind = kindAt(text, start)
  if (kind === 'object') return true
  if (kind !== 'array') return false
  const elements = elementsOf(text, start)
  return elements.length > 0 && elements.every((element) => kindAt(text, element.start) === 'object')
}

function frameEndOf(end: 'lf' | FrameEnd): { frameEnd?: FrameEnd } {
  return end === 'lf' ? {} : { frameEnd: end }
}

/** Text as people can read it; `bytes` too when the text cannot be turned back into them. */
function textOf(bytes: Uint8Array): { text: string; bytes?: string } {
  return isUtf8(bytes) ? { text: decode(bytes) } : { text: decode(bytes), bytes: base64(bytes) }
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
