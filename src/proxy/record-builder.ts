import { createHash, randomUUID, type Hash } from 'node:crypto'
import {
  relatePart,
  createCorrelator,
  type Correlator,
  type Direction,
  type FrameEnd,
  type MessageRecord,
  type OpenRequest,
  type Part,
  type TapeRecord,
  type Draft,
} from '../model/index.js'
import {
  createLineFramer,
  findJsonValue,
  holdsMessages,
  idKey,
  isFault,
  partsOf,
  readEnvelope,
  type LineFrame,
  type LineFramer,
  longestMessage,
} from '../wire/index.js'
import type { Redactor } from '../redaction/index.js'
import type { FramePlace, GateEntry, Sent } from '../intercept/index.js'
import { channels, type Channel } from './channel.js'
import { markSize, type ChunkBatch } from './chunk-batch.js'
import { whyTooLong } from './http-body.js'
import { createGateBook, noteOf } from './gate-book.js'
import { LongLine } from './long-line.js'
import { createStamp, type Moment } from './stamp.js'
import { Deliveries } from './deliveries.js'
import type { Numbers } from './message-numbers.js'
import type { ChannelLoss } from './channel-loss.js'
import type { Progress } from './thread-state.js'
import { BatchLines, PlainMessages, type Ref, type TakeLine } from './plain-frames.js'
import { Scratch } from './region-pool.js'
import { base64, exactText, rewritten, textOf } from './message-text.js'

/** Longer stderr lines are recorded in pieces. In bytes. */
const longestStderr = 65_536

/**
 * Turns the traffic of the three channels of a stdio server into records, in order of arrival: frames, exact text,
 * numbers, ids, links. Nothing is parsed and serialized again.
 */
export interface RecordBuilder {
  /**
   * Gives each record to `take` as soon as it exists, and plain messages to `takeLine` if given. Nothing of the batch
   * is kept: its memory may be reused.
   */
  chunks(batch: ChunkBatch, take: (record: TapeRecord) => void, takeLine?: TakeLine): void
  /** The channel ended. A last line without a line end is a frame of its own. */
  ended(channel: Channel, at: Moment): TapeRecord[]
  /** Forwarded bytes are missing. @param atLineStart whether the next byte begins a line */
  lost(
    channel: Channel,
    loss: { bytes: number; lines: number; atLineStart: boolean; why: string },
    at: Moment,
  ): TapeRecord[]
  openRequests(): OpenRequest[]
  /** Bytes of each channel up to the end of the last complete frame. */
  readonly recorded: Readonly<Record<Channel, number>>
  /** Forwarded bytes minus received bytes. */
  readonly shift: Readonly<Record<'in' | 'out', number>>
  /** The previous thread died. Makes at least one gap. @param more further missing messages and their bytes */
  died(
    at: Moment,
    losses: readonly ChannelLoss[],
    more: { readonly messages: number; readonly bytes: number },
    why: string,
  ): TapeRecord[]
  /** Records a decision at the gate. A verdict is recorded with its frame. */
  gate(entry: GateEntry, at: Moment): TapeRecord[]
  /** Only `deliveredBytes` of the channel reached the other side. */
  undelivered(channel: 'in' | 'out', deliveredBytes: number, why: string, at: Moment): TapeRecord[]
}

type EntryOf<K extends GateEntry['kind']> = Extract<GateEntry, { kind: K }>
type StdioPlace = Extract<FramePlace, { channel: string }>

/** @param redactor redacts the records; links are made from the original text, so they stay correct */
export function createRecordBuilder(
  redactor: Redactor,
  numbers: Numbers = { next: 0 },
  resume?: Pick<Progress, 'recorded' | 'shift'>,
): RecordBuilder {
  const framers: Record<Channel, LineFramer> = {
    in: createLineFramer({ borrowed: true }),
    out: createLineFramer({ borrowed: true }),
    err: createLineFramer({ maxBytes: longestStderr, borrowed: true }),
  }
  const correlator: Correlator<Ref> = createCorrelator(idKey)
  const oversize: Record<Channel, { hash: Hash; bytes: number } | undefined> = {
    in: undefined,
    out: undefined,
    err: undefined,
  }
  const deliveries = { in: new Deliveries<Ref>(), out: new Deliveries<Ref>() }
  const longLine = new LongLine()
  const book = createGateBook(
    redactor,
    (message, part, newId) => {
      const { direction } = message
      correlator.rename({ ref: part.id!, envelope: part.envelope, direction, conversation: '' }, newId)
    },
    resume !== undefined,
  )
  /** Verdicts of frames that have not arrived yet, in their order. */
  const verdicts: Record<'in' | 'out', (EntryOf<'verdict'> & { place: StdioPlace })[]> = { in: [], out: [] }
  /** Forwarded bytes minus received bytes. Held, edited and injected messages make them differ. */
  const shift = { in: resume?.shift.in ?? 0, out: resume?.shift.out ?? 0 }
  /** End of the last stderr frame. The last piece of a long line does not contain its line end. */
  let stderrOffset = 0
  /** Bytes of each channel so far, including lost ones. */
  const seenBytes: Record<Channel, number> = { in: 0, out: 0, err: 0, ...resume?.recorded }
  /** Bytes of each channel up to the end of the last complete frame. */
  const recorded: Record<Channel, number> = { ...seenBytes }
  for (const channel of channels) framers[channel].skip(seenBytes[channel])
  stderrOffset = seenBytes.err
  const stamp = createStamp()
  /** Copies of the batch's bytes, per channel. */
  const scratch = { in: new Scratch(), out: new Scratch(), err: new Scratch() }
  const lines = { in: new BatchLines(redactor), out: new BatchLines(redactor), err: new BatchLines(redactor) }
  const plainMessages = new PlainMessages(correlator, numbers)

  function recordOf(channel: Channel, frame: LineFrame, at: Moment): TapeRecord | undefined {
    if (frame.kind === 'line' || frame.last) recorded[channel] = frame.endOffset
    return channel === 'err' ? stderrRecord(frame, at) : messageRecord(channel, frame, at)
  }

  /** Each channel is contiguous in a batch. A line gets the time of the chunk that completed it. */
  function takeBatch(batch: ChunkBatch, sink: (record: TapeRecord) => void, takeLine?: TakeLine): void {
    const { marks } = batch
    for (const channel of channels) {
      const region = batch.regions[channel]
      if (region) lines[channel].begin(scratch[channel].copyOf(region), seenBytes[channel])
    }
    const seen = [0, 0, 0]
    for (let i = 0; i < marks.length; i += markSize) {
      const index = marks[i]!
      const channel = channels[index]!
      const at = { us: marks[i + 1]!, wallMs: marks[i + 2]! }
      seen[index]! += marks[i + 3]!
      seenBytes[channel] += marks[i + 3]!
      takeLines(channel, seen[index]!, at, sink, takeLine)
    }
  }

  /** Takes the lines that end before `to`, an index in the batch. An incomplete line stays in the framer. */
  function takeLines(
    channel: Channel,
    to: number,
    at: Moment,
    sink: (record: TapeRecord) => void,
    takeLine: TakeLine | undefined,
  ): void {
    const ahead = lines[channel]
    const framer = framers[channel]
    const mayBePlain = takeLine && channel !== 'err' && verdicts[channel].length === 0 && at.us >= 0
    while (ahead.start < to) {
      ahead.look(mayBePlain === true && framer.isAtLineStart)
      if (ahead.end > to) return
      if (ahead.isPlain) {
        const line = plainMessages.lineOf(ahead, directionOf(channel), stamp(at))
        takeLine?.(line, plainMessages.ids)
        framer.skip(ahead.end - ahead.start)
        recorded[channel] = ahead.endOffset
        if (channel !== 'err') deliveries[channel].remember(line.id, ahead.endOffset + shift[channel])
      } else {
        for (const frame of framer.push(ahead.bytes.subarray(ahead.start, ahead.end))) {
          const record = recordOf(channel, frame, at)
          if (record) sink(record)
        }
      }
      ahead.next()
    }
  }

  function stderrRecord(frame: LineFrame, at: Moment): TapeRecord | undefined {
    const channel = 'err'
    const { bytes, endOffset } = frame
    const terminatorBytes = endOffset - stderrOffset - bytes.length
    stderrOffset = endOffset
    if (frame.kind === 'line') {
      return { type: 'stderr', ...stamp(at), ...recordedText(bytes, channel), ...frameEndOf(frame.end) }
    }
    const text = frame.last ? longLine.last(bytes) : longLine.piece(bytes)
    if (text.length === 0 && terminatorBytes === 0) return undefined
    const end = terminatorBytes === 0 ? 'none' : terminatorBytes === 2 ? 'crlf' : 'lf'
    return { type: 'stderr', ...stamp(at), ...recordedText(text, channel), ...frameEndOf(end) }
  }

  function messageRecord(channel: 'in' | 'out', frame: LineFrame, at: Moment): TapeRecord | undefined {
    const direction = directionOf(channel)
    if (frame.kind === 'piece') return oversizeRecord(channel, direction, frame, at)
    const text = exactText(frame.bytes)
    if (text === undefined) {
      return {
        type: 'noise',
        ...stamp(at),
        direction,
        ...recordedText(frame.bytes, channel),
        ...frameEndOf(frame.end),
      }
    }
    const span = findJsonValue(text)
    if (isFault(span) || !holdsMessages(text, span.start)) {
      const line = redactor.line(text, channel) ?? text
      return { type: 'noise', ...stamp(at), direction, text: line, ...frameEndOf(frame.end) }
    }
    const verdict = verdictAt(channel, frame.endOffset)
    const exact = text.slice(span.start, span.end)
    // Tapes are read by line, and some readers treat CR as a line end. Here CR is only white space.
    const raw = exact.includes('\r') ? exact.replaceAll('\r', ' ') : exact
    const { batch, parts: spans } = partsOf(raw)
    const parts = spans.map(({ start, end }, i) =>
      partOf(raw, start, end, direction, i === 0 ? verdict?.id : undefined),
    )
    const { t, us } = stamp(at)
    const redacted = redactor.json(raw)
    const record: Draft<MessageRecord> = redacted
      ? { type: 'message', t, us, direction, ...rewritten(redacted, parts), seq: numbers.next }
      : { type: 'message', t, us, direction, raw, batch, parts, seq: numbers.next }
    if (frame.end !== 'lf') record.frameEnd = frame.end
    if (redacted) record.red = redacted.red
    else if (raw.length === text.length && raw === exact) record.utf8 = frame.bytes
    else record.bytes = base64(frame.bytes)
    numbers.next += parts.length
    if (verdict) return judged(channel, record, frame.endOffset, verdict)
    remember(channel, parts, frame.endOffset + shift[channel])
    return record
  }

  function verdictAt(channel: 'in' | 'out', endOffset: number): EntryOf<'verdict'> | undefined {
    const next = verdicts[channel]
    // Lost frames have verdicts too, which are skipped.
    while (next.length > 0 && next[0]!.place.endOffset < endOffset) next.shift()
    return next[0]?.place.endOffset === endOffset ? next.shift() : undefined
  }

  function judged(
    channel: 'in' | 'out',
    record: MessageRecord,
    endOffset: number,
    { id, verdict, place }: EntryOf<'verdict'>,
  ): TapeRecord {
    const judgement = book.judged(record, id, verdict)
    const sizeBytes = 'sizeBytes' in place ? place.sizeBytes : 0
    shift[channel] += (verdict.kind === 'pass' ? verdict.sizeBytes : 0) - sizeBytes
    if (judgement.type === 'message') remember(channel, judgement.parts, endOffset + shift[channel])
    return judgement
  }

  function takeEntry(entry: GateEntry, at: Moment): TapeRecord | undefined {
    switch (entry.kind) {
      case 'verdict':
        if ('channel' in entry.place) verdicts[entry.place.channel].push({ ...entry, place: entry.place })
        return undefined
      case 'release': {
        const record = book.released(entry, stamp(at))
        if (record?.type === 'message') went(record.direction, record.parts, entry.sent)
        return record
      }
      case 'drop':
        return book.dropped(entry, stamp(at))
      case 'inject':
        return injected(entry, at)
      case 'note':
        return noteOf(entry, stamp(at), redactor)
    }
  }

  function went(direction: Direction, parts: readonly Part[], { sizeBytes, endOffset }: Sent): void {
    const channel = direction === 'client_to_server' ? 'in' : 'out'
    shift[channel] += sizeBytes
    remember(channel, parts, endOffset)
  }

  function injected(entry: EntryOf<'inject'>, at: Moment): MessageRecord {
    const { text, direction, id, rule, sent } = entry
    const { batch, parts: spans } = partsOf(text)
    const parts = spans.map(({ start, end }, i) =>
      partOf(text, start, end, direction, i === 0 ? id : undefined),
    )
    went(direction, parts, sent)
    const redacted = redactor.json(text)
    const first = numbers.next
    numbers.next += parts.length
    return {
      type: 'message',
      ...stamp(at),
      direction,
      ...(redacted ? { ...rewritten(redacted, parts), red: redacted.red } : { raw: text, batch, parts }),
      seq: first,
      injected: true,
      ...(rule !== undefined && { rule }),
    }
  }

  /** Readable text. With `bytes` when the text cannot be turned back into them and contains no secret. */
  function recordedText(bytes: Uint8Array, channel: Channel): { text: string; bytes?: string } {
    const recorded = textOf(bytes)
    const redacted = redactor.line(recorded.text, channel)
    return redacted === undefined ? recorded : { text: redacted }
  }

  function partOf(raw: string, start: number, end: number, direction: Direction, given?: string): Part {
    const id: string = given ?? randomUUID()
    const envelope = readEnvelope(raw, start)
    const seen = correlator.observe({ ref: id, envelope, direction, conversation: '' })
    return relatePart({ id, envelope, start, end }, plainMessages.withIds(seen))
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
    numbers.next += 1
    return {
      type: 'gap',
      ...stamp(at),
      lost: 1,
      lostBytes: current.bytes,
      why: whyTooLong(longestMessage),
      direction,
      sha256: current.hash.digest('hex'),
    }
  }

  function remember(channel: 'in' | 'out', parts: readonly Part[], endOffset: number): void {
    for (const part of parts) deliveries[channel].remember(part.id!, endOffset)
  }

  return {
    openRequests: () => correlator.openRequests(),
    chunks: takeBatch,
    ended: (channel, at) => framers[channel].end().flatMap((frame) => recordOf(channel, frame, at) ?? []),
    recorded,
    shift,
    died(at, losses, { messages, bytes }, why) {
      const gaps = losses.flatMap((loss) => lost(loss.channel, { ...loss, why }, at))
      if (gaps.length > 0 && messages + bytes === 0) return gaps
      numbers.next += messages
      return [...gaps, { type: 'gap', ...stamp(at), lost: messages, lostBytes: bytes, why }]
    },
    lost,
    gate(entry, at) {
      const record = takeEntry(entry, at)
      return record ? [record] : []
    },
    undelivered(channel, deliveredBytes, why, at) {
      return deliveries[channel].takeAfter(deliveredBytes).map((ref): TapeRecord => ({
        type: 'undelivered',
        ...stamp(at),
        id: plainMessages.idOf(ref),
        why,
      }))
    },
  }

  function lost(channel: Channel, loss: Parameters<RecordBuilder['lost']>[1], at: Moment): TapeRecord[] {
    framers[channel].lose(loss.bytes, loss.atLineStart)
    seenBytes[channel] += loss.bytes
    recorded[channel] = seenBytes[channel]
    oversize[channel] = undefined
    const lines = loss.lines + (loss.atLineStart ? 0 : 1)
    if (channel === 'err') {
      const rest = longLine.last(new Uint8Array(0))
      const kept: TapeRecord[] =
        rest.length === 0
          ? []
          : [{ type: 'stderr', ...stamp(at), ...recordedText(rest, channel), ...frameEndOf('none') }]
      return [
        ...kept,
        { type: 'gap', ...stamp(at), lost: 0, lostStderr: lines, lostBytes: loss.bytes, why: loss.why },
      ]
    }
    numbers.next += lines
    const direction = directionOf(channel)
    return [{ type: 'gap', ...stamp(at), lost: lines, lostBytes: loss.bytes, why: loss.why, direction }]
  }
}

function directionOf(channel: Channel): Direction {
  return channel === 'in' ? 'client_to_server' : 'server_to_client'
}

function frameEndOf(end: 'lf' | FrameEnd): { frameEnd?: FrameEnd } {
  return end === 'lf' ? {} : { frameEnd: end }
}
