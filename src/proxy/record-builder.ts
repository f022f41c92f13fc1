import { createHash, randomUUID, type Hash } from 'node:crypto'
import {
  relatePart,
  Correlator,
  type Direction,
  type FrameEnd,
  type MessageRecord,
  type OpenRequest,
  type Part,
  type TapeRecord,
  type Draft,
} from '../model/index.js'
import {
  LineFramer,
  mayHaveControls,
  idKey,
  readLine,
  readParts,
  type FrameText,
  type LineFrame,
  longestMessage,
} from '../wire/index.js'
import type { Redactor } from '../redaction/index.js'
import type { FramePlace, GateEntry, Sent } from '../intercept/index.js'
import { channels, directionOf, type Channel } from './channel.js'
import { markSize, type ChunkBatch } from './chunk-batch.js'
import { whyTooLong } from './http-body.js'
import { createGateBook, noteOf, type GateBook } from './gate-book.js'
import { LongLine } from './long-line.js'
import { createStamp, type Moment } from './stamp.js'
import { Deliveries } from './deliveries.js'
import type { Numbers } from './message-numbers.js'
import type { ChannelLoss } from './channel-loss.js'
import type { Progress } from './thread-state.js'
import { BatchLines } from './batch-lines.js'
import { PlainMessages, type LineTaker, type Ref } from './plain-frames.js'
import { base64, exactText, rewritten, textOf } from './message-text.js'

/** Longer stderr lines are recorded in pieces. In bytes. */
const longestStderr = 65_536

type EntryOf<K extends GateEntry['kind']> = Extract<GateEntry, { kind: K }>
/** A decision about a frame of a pipe. */
type JudgedFrame = EntryOf<'judge'> & { place: Extract<FramePlace, { channel: string }> }

/**
 * Turns the traffic of the three channels of a stdio server into records, in order of arrival: frames, exact text,
 * numbers, ids, links. Nothing is parsed and serialized again.
 */
export class RecordBuilder {
  readonly #redactor: Redactor
  readonly #numbers: Numbers
  readonly #framers: Record<Channel, LineFramer> = {
    in: new LineFramer({ borrowed: true }),
    out: new LineFramer({ borrowed: true }),
    err: new LineFramer({ maxBytes: longestStderr, borrowed: true }),
  }
  readonly #correlator = new Correlator<Ref>(idKey)
  readonly #oversize: Record<Channel, { hash: Hash; bytes: number } | undefined> = {
    in: undefined,
    out: undefined,
    err: undefined,
  }
  readonly #deliveries = { in: new Deliveries<Ref>(), out: new Deliveries<Ref>() }
  readonly #longLine = new LongLine()
  readonly #book: GateBook
  /** Decisions about frames that have not arrived yet, in their order. */
  readonly #judged: Record<'in' | 'out', JudgedFrame[]> = { in: [], out: [] }
  /** Forwarded bytes minus received bytes. Held, edited and injected messages make them differ. */
  readonly shift: Record<'in' | 'out', number>
  /** End of the last stderr frame. The last piece of a long line does not contain its line end. */
  #stderrOffset: number
  /** Bytes of each channel so far, including lost ones. */
  readonly #seenBytes: Record<Channel, number>
  /** Bytes of each channel up to the end of the last complete frame. */
  readonly recorded: Record<Channel, number>
  readonly #stamp = createStamp()
  readonly #lines: Record<Channel, BatchLines>
  readonly #plainMessages: PlainMessages

  /** @param redactor redacts the records; links are made from the original text, so they stay correct */
  constructor(
    redactor: Redactor,
    numbers: Numbers = { next: 0 },
    resume?: Pick<Progress, 'recorded' | 'shift'>,
  ) {
    this.#redactor = redactor
    this.#numbers = numbers
    this.#book = createGateBook(
      redactor,
      ({ direction }, { id, envelope }, newId) =>
        this.#correlator.rename({ ref: id!, envelope, direction, conversation: '' }, newId),
      resume !== undefined,
    )
    this.shift = { in: resume?.shift.in ?? 0, out: resume?.shift.out ?? 0 }
    this.#seenBytes = { in: 0, out: 0, err: 0, ...resume?.recorded }
    this.recorded = { ...this.#seenBytes }
    for (const channel of channels) this.#framers[channel].skip(this.#seenBytes[channel])
    this.#stderrOffset = this.#seenBytes.err
    const lines = (): BatchLines => new BatchLines(redactor)
    this.#lines = { in: lines(), out: lines(), err: lines() }
    this.#plainMessages = new PlainMessages(this.#correlator, numbers)
  }

  openRequests(): OpenRequest[] {
    return this.#correlator.openRequests()
  }

  /** The channel ended. A last line without a line end is a frame of its own. */
  ended(channel: Channel, at: Moment): TapeRecord[] {
    this.#passRest(channel)
    return this.#framers[channel].end().flatMap((frame) => this.#recordOf(channel, frame, at) ?? [])
  }

  /** The previous thread died. Makes at least one gap. @param more further missing messages and their bytes */
  died(
    at: Moment,
    losses: readonly ChannelLoss[],
    { messages, bytes }: { readonly messages: number; readonly bytes: number },
    why: string,
  ): TapeRecord[] {
    const gaps = losses.flatMap((loss) => this.lost(loss.channel, { ...loss, why }, at))
    if (gaps.length > 0 && messages + bytes === 0) return gaps
    this.#numbers.next += messages
    return [...gaps, { type: 'gap', ...this.#stamp(at), lost: messages, lostBytes: bytes, why }]
  }

  /** Records a decision at the gate. A decision about an arriving frame is recorded with it. */
  gate(entry: GateEntry, at: Moment): TapeRecord[] {
    const record = this.#takeEntry(entry, at)
    return record ? [record] : []
  }

  /** Only `deliveredBytes` of the channel reached the other side. */
  undelivered(channel: 'in' | 'out', deliveredBytes: number, why: string, at: Moment): TapeRecord[] {
    return this.#deliveries[channel].takeAfter(deliveredBytes).map((ref): TapeRecord => ({
      type: 'undelivered',
      ...this.#stamp(at),
      id: this.#plainMessages.idOf(ref),
      why,
    }))
  }

  /** Each channel is contiguous in a batch. A line gets the time of the chunk that completed it. */
  chunks(batch: ChunkBatch, sink: (record: TapeRecord) => void, taker?: LineTaker): void {
    const { marks } = batch
    for (const channel of channels) {
      const region = batch.regions[channel]
      if (region) this.#lines[channel].begin(region, this.#seenBytes[channel])
    }
    const seen = channels.map(
      (channel) => this.#lines[channel].length - (batch.regions[channel]?.length ?? 0),
    )
    for (let i = 0; i < marks.length; i += markSize) {
      const index = marks[i]!
      const channel = channels[index]!
      const at = { us: marks[i + 1]!, wallMs: marks[i + 2]! }
      seen[index]! += marks[i + 3]!
      this.#seenBytes[channel] += marks[i + 3]!
      this.#takeLines(channel, seen[index]!, at, sink, taker)
    }
  }

  /** Forwarded bytes are missing. @param atLineStart whether the next byte begins a line */
  lost(
    channel: Channel,
    loss: { bytes: number; lines: number; atLineStart: boolean; why: string },
    at: Moment,
  ): TapeRecord[] {
    this.#passRest(channel)
    this.#framers[channel].lose(loss.bytes, loss.atLineStart)
    this.#seenBytes[channel] += loss.bytes
    this.recorded[channel] = this.#seenBytes[channel]
    this.#oversize[channel] = undefined
    const lines = loss.lines + (loss.atLineStart ? 0 : 1)
    if (channel === 'err') {
      const rest = this.#longLine.last(new Uint8Array(0))
      const kept = rest.length === 0 ? [] : [this.#stderr(rest, 'none', at)]
      return [
        ...kept,
        { type: 'gap', ...this.#stamp(at), lost: 0, lostStderr: lines, lostBytes: loss.bytes, why: loss.why },
      ]
    }
    this.#numbers.next += lines
    const direction = directionOf(channel)
    return [{ type: 'gap', ...this.#stamp(at), lost: lines, lostBytes: loss.bytes, why: loss.why, direction }]
  }

  #recordOf(channel: Channel, frame: LineFrame, at: Moment): TapeRecord | undefined {
    if (frame.kind === 'line' || frame.last) this.recorded[channel] = frame.endOffset
    return channel === 'err' ? this.#stderrRecord(frame, at) : this.#messageRecord(channel, frame, at)
  }

  /** An incomplete line, which waited for its end, goes to the framer. */
  #passRest(channel: Channel): void {
    const rest = this.#lines[channel].takeRest()
    if (rest.length > 0) this.#framers[channel].push(rest)
  }

  /** Takes the lines that end before `to`, an index in the batch. An incomplete line waits, or goes to the framer. */
  #takeLines(
    channel: Channel,
    to: number,
    at: Moment,
    sink: (record: TapeRecord) => void,
    taker: LineTaker | undefined,
  ): void {
    const ahead = this.#lines[channel]
    const framer = this.#framers[channel]
    const mayBePlain = taker && channel !== 'err' && this.#judged[channel].length === 0 && at.us >= 0
    while (ahead.start < to) {
      const begins = mayBePlain === true && framer.isAtLineStart
      ahead.look(begins)
      if (ahead.end > to || (begins && ahead.mayWait)) return
      if (ahead.isPlain) this.#takePlain(channel as 'in' | 'out', ahead, at, taker!)
      else this.#frame(channel, ahead, at, sink)
      ahead.next()
    }
  }

  /** A function of its own, like `#frame`: the engine compiles the loop around it again and again. */
  #takePlain(channel: 'in' | 'out', ahead: BatchLines, at: Moment, taker: LineTaker): void {
    const { endOffset } = ahead
    const line = this.#plainMessages.lineOf(ahead, directionOf(channel), this.#stamp(at))
    taker.addPlain(line, this.#plainMessages.ids)
    this.#framers[channel].skip(ahead.end - ahead.start)
    this.recorded[channel] = endOffset
    this.#deliveries[channel].remember(line.id, endOffset + this.shift[channel])
  }

  #frame(channel: Channel, ahead: BatchLines, at: Moment, sink: (record: TapeRecord) => void): void {
    for (const frame of this.#framers[channel].push(ahead.bytes.subarray(ahead.start, ahead.end))) {
      const record = this.#recordOf(channel, frame, at)
      if (record) sink(record)
    }
  }

  #stderrRecord(frame: LineFrame, at: Moment): TapeRecord | undefined {
    const { bytes, endOffset } = frame
    const terminatorBytes = endOffset - this.#stderrOffset - bytes.length
    this.#stderrOffset = endOffset
    if (frame.kind === 'line') {
      return this.#stderr(bytes, frame.end, at)
    }
    const text = frame.last ? this.#longLine.last(bytes) : this.#longLine.piece(bytes)
    if (text.length === 0 && terminatorBytes === 0) return undefined
    const end = terminatorBytes === 0 ? 'none' : terminatorBytes === 2 ? 'crlf' : 'lf'
    return this.#stderr(text, end, at)
  }

  #stderr(bytes: Uint8Array, end: 'lf' | FrameEnd, at: Moment): TapeRecord {
    return { type: 'stderr', ...this.#stamp(at), ...this.#recordedText(bytes, 'err'), ...frameEndOf(end) }
  }

  #messageRecord(channel: 'in' | 'out', frame: LineFrame, at: Moment): TapeRecord | undefined {
    const direction = directionOf(channel)
    if (frame.kind === 'piece') return this.#oversizeRecord(channel, direction, frame, at)
    const text = exactText(frame.bytes)
    if (text === undefined) {
      return {
        type: 'noise',
        ...this.#stamp(at),
        direction,
        ...this.#recordedText(frame.bytes, channel),
        ...frameEndOf(frame.end),
      }
    }
    // Some readers of tapes treat CR as a line end.
    const read = readLine(text, mayHaveControls(frame.bytes))
    if (!read) {
      const line = this.#redactor.line(text, channel) ?? text
      return { type: 'noise', ...this.#stamp(at), direction, text: line, ...frameEndOf(frame.end) }
    }
    const judged = this.#judgedAt(channel, frame.endOffset)
    const { text: raw, batch } = read
    const parts = this.#partsOf(read, direction, judged?.id)
    const { t, us } = this.#stamp(at)
    const redacted = this.#redactor.json(raw)
    const record: Draft<MessageRecord> = redacted
      ? { type: 'message', t, us, direction, ...rewritten(redacted, parts), seq: this.#numbers.next }
      : { type: 'message', t, us, direction, raw, batch, parts, seq: this.#numbers.next }
    if (frame.end !== 'lf') record.frameEnd = frame.end
    if (redacted) record.red = redacted.red
    else if (raw === text) record.utf8 = frame.bytes
    else record.bytes = base64(frame.bytes)
    this.#numbers.next += parts.length
    if (judged) return this.#judge(channel, record, frame.endOffset, judged)
    this.#remember(channel, parts, frame.endOffset + this.shift[channel])
    return record
  }

  #judgedAt(channel: 'in' | 'out', endOffset: number): JudgedFrame | undefined {
    const next = this.#judged[channel]
    // Decisions about lost frames are skipped.
    while (next.length > 0 && next[0]!.place.endOffset < endOffset) next.shift()
    return next[0]?.place.endOffset === endOffset ? next.shift() : undefined
  }

  #judge(channel: 'in' | 'out', message: MessageRecord, endOffset: number, judged: JudgedFrame): TapeRecord {
    const record = this.#book.judged(message, judged)
    this.shift[channel] += judged.sizeBytes - judged.place.sizeBytes
    if (record.type === 'message') this.#remember(channel, record.parts, endOffset + this.shift[channel])
    return record
  }

  #takeEntry(entry: GateEntry, at: Moment): TapeRecord | undefined {
    switch (entry.kind) {
      case 'judge':
        if ('channel' in entry.place) this.#judged[entry.place.channel].push({ ...entry, place: entry.place })
        return undefined
      case 'settle': {
        const record = this.#book.settled(entry, this.#stamp(at))
        if (record?.type === 'message') this.#went(record.direction, record.parts, entry.sent)
        return record
      }
      case 'inject':
        return this.#injected(entry, at)
      case 'note':
        return noteOf(entry, this.#stamp(at), this.#redactor)
    }
  }

  #went(direction: Direction, parts: readonly Part[], { sizeBytes, endOffset }: Sent): void {
    const channel = direction === 'client_to_server' ? 'in' : 'out'
    this.shift[channel] += sizeBytes
    this.#remember(channel, parts, endOffset)
  }

  #injected(entry: EntryOf<'inject'>, at: Moment): MessageRecord {
    const { text, direction, id, rule, sent } = entry
    const read = readParts(text)
    const parts = this.#partsOf(read, direction, id)
    this.#went(direction, parts, sent)
    const redacted = this.#redactor.json(text)
    const first = this.#numbers.next
    this.#numbers.next += parts.length
    return {
      type: 'message',
      ...this.#stamp(at),
      direction,
      ...(redacted
        ? { ...rewritten(redacted, parts), red: redacted.red }
        : { raw: text, batch: read.batch, parts }),
      seq: first,
      injected: true,
      ...(rule !== undefined && { rule }),
    }
  }

  /** Readable text. With `bytes` when the text cannot be turned back into them and contains no secret. */
  #recordedText(bytes: Uint8Array, channel: Channel): { text: string; bytes?: string } {
    const recorded = textOf(bytes)
    const redacted = this.#redactor.line(recorded.text, channel)
    return redacted === undefined ? recorded : { text: redacted }
  }

  /** @param given the id of the first message, if already assigned */
  #partsOf({ parts }: FrameText, direction: Direction, given?: string): Part[] {
    return parts.map((part, i) => {
      const id: string = (i === 0 && given) || randomUUID()
      const { envelope } = part
      const seen = this.#correlator.observe({ ref: id, envelope, direction, conversation: '' })
      return relatePart({ id, ...part }, this.#plainMessages.withIds(seen))
    })
  }

  #oversizeRecord(
    channel: 'in' | 'out',
    direction: Direction,
    frame: Extract<LineFrame, { kind: 'piece' }>,
    at: Moment,
  ): TapeRecord | undefined {
    const current = (this.#oversize[channel] ??= { hash: createHash('sha256'), bytes: 0 })
    current.hash.update(frame.bytes)
    current.bytes += frame.bytes.length
    if (!frame.last) return undefined
    this.#oversize[channel] = undefined
    this.#numbers.next += 1
    return {
      type: 'gap',
      ...this.#stamp(at),
      lost: 1,
      lostBytes: current.bytes,
      why: whyTooLong(longestMessage),
      direction,
      sha256: current.hash.digest('hex'),
    }
  }

  #remember(channel: 'in' | 'out', parts: readonly Part[], endOffset: number): void {
    for (const part of parts) this.#deliveries[channel].remember(part.id!, endOffset)
  }
}

function frameEndOf(end: 'lf' | FrameEnd): { frameEnd?: FrameEnd } {
  return end === 'lf' ? {} : { frameEnd: end }
}
