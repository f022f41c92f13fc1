import { createHash, randomUUID } from 'node:crypto'
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
  mayHaveControls,
  idKey,
  readLine,
  readParts,
  type FrameText,
  type LineFrame,
  longestMessage,
} from '../wire/index.js'
import type { Redactor } from '../redaction/index.js'
import type { GateEntry, Sent } from '../intercept/index.js'
import type { Channel } from './channel.js'
import { markSize, type ChunkBatch } from './chunk-batch.js'
import { whyTooLong } from './http-body.js'
import { createGateBook, noteOf, type GateBook } from './gate-book.js'
import { LongLine } from './long-line.js'
import { createStamp, type Moment } from './stamp.js'
import { ChannelState, type JudgedFrame } from './channel-state.js'
import type { Numbers } from './message-numbers.js'
import type { ChannelLoss } from './channel-loss.js'
import type { Progress } from './thread-state.js'
import type { BatchLines } from './batch-lines.js'
import type { Ref } from './message-refs.js'
import { PlainMessages, type LineTaker } from './plain-frames.js'
import { base64, exactText, rewritten, textOf } from './message-text.js'

type EntryOf<K extends GateEntry['kind']> = Extract<GateEntry, { kind: K }>

/**
 * Turns the traffic of the three channels of a stdio server into records, in order of arrival: frames, exact text,
 * numbers, ids, links. Nothing is parsed and serialized again.
 */
export class RecordBuilder {
  readonly #redactor: Redactor
  readonly #numbers: Numbers
  readonly #sides: Readonly<Record<Channel, ChannelState>>
  readonly #correlator = new Correlator<Ref>(idKey)
  readonly #longLine = new LongLine()
  readonly #book: GateBook
  /** End of the last stderr frame. The last piece of a long line does not contain its line end. */
  #stderrOffset: number
  readonly #stamp = createStamp()
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
    const side = (channel: Channel): ChannelState => new ChannelState(channel, redactor, resume)
    this.#sides = { in: side('in'), out: side('out'), err: side('err') }
    this.#stderrOffset = this.#sides.err.seenBytes
    this.#plainMessages = new PlainMessages(this.#correlator, numbers)
  }

  /** Bytes of each channel up to the end of the last complete frame. */
  get recorded(): Record<Channel, number> {
    const { in: input, out, err } = this.#sides
    return { in: input.recorded, out: out.recorded, err: err.recorded }
  }

  /** Forwarded bytes minus received bytes. */
  get shift(): Record<'in' | 'out', number> {
    return { in: this.#sides.in.shift, out: this.#sides.out.shift }
  }

  openRequests(): OpenRequest[] {
    return this.#correlator.openRequests()
  }

  /** The channel ended. A last line without a line end is a frame of its own. */
  ended(channel: Channel, at: Moment): TapeRecord[] {
    const side = this.#sides[channel]
    passRest(side)
    return side.framer.end().flatMap((frame) => this.#recordOf(side, frame, at) ?? [])
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
    return this.#sides[channel].deliveries.takeAfter(deliveredBytes).map((ref): TapeRecord => ({
      type: 'undelivered',
      ...this.#stamp(at),
      id: this.#plainMessages.refs.idOf(ref),
      why,
    }))
  }

  /** Each channel is contiguous in a batch. A line gets the time of the chunk that completed it. */
  chunks(batch: ChunkBatch, sink: (record: TapeRecord) => void, taker?: LineTaker): void {
    const { marks, regions } = batch
    const { in: input, out, err } = this.#sides
    const sides = [input, out, err]
    // The engine gives an array of `map` another kind once it optimizes, and discards the code at once.
    const seen = [beginBatch(input, regions), beginBatch(out, regions), beginBatch(err, regions)]
    for (let i = 0; i < marks.length; i += markSize) {
      const index = marks[i]!
      const at = { us: marks[i + 1]!, wallMs: marks[i + 2]! }
      const side = sides[index]!
      // An integer: with other numbers, the engine would compile this function again and again.
      const sizeBytes = marks[i + 3]! | 0
      seen[index]! += sizeBytes
      side.seenBytes += sizeBytes
      this.#takeLines(side, seen[index]!, at, sink, taker)
    }
  }

  /** Forwarded bytes are missing. @param atLineStart whether the next byte begins a line */
  lost(
    channel: Channel,
    loss: { bytes: number; lines: number; atLineStart: boolean; why: string },
    at: Moment,
  ): TapeRecord[] {
    const side = this.#sides[channel]
    passRest(side)
    // The beginning of a line whose rest is missing is not recorded either.
    const lostBytes = loss.bytes + side.framer.pendingBytes + (side.oversize?.bytes ?? 0)
    side.framer.lose(loss.bytes, loss.atLineStart)
    side.seenBytes += loss.bytes
    side.recorded = side.seenBytes
    side.oversize = undefined
    const lines = loss.lines + (loss.atLineStart ? 0 : 1)
    if (channel === 'err') {
      const rest = this.#longLine.last(new Uint8Array(0))
      const kept = rest.length === 0 ? [] : [this.#stderr(rest, 'none', at)]
      return [
        ...kept,
        { type: 'gap', ...this.#stamp(at), lost: 0, lostStderr: lines, lostBytes, why: loss.why },
      ]
    }
    this.#numbers.next += lines
    const { direction } = side
    return [{ type: 'gap', ...this.#stamp(at), lost: lines, lostBytes, why: loss.why, direction }]
  }

  #recordOf(side: ChannelState, frame: LineFrame, at: Moment): TapeRecord | undefined {
    if (frame.kind === 'line' || frame.last) side.recorded = frame.endOffset
    return side.channel === 'err' ? this.#stderrRecord(frame, at) : this.#messageRecord(side, frame, at)
  }

  /** Takes the lines that end before `to`, an index in the batch. An incomplete line waits, or goes to the framer. */
  #takeLines(
    side: ChannelState,
    to: number,
    at: Moment,
    sink: (record: TapeRecord) => void,
    taker: LineTaker | undefined,
  ): void {
    const { lines: ahead, framer } = side
    const mayBePlain = taker && side.channel !== 'err' && side.judged.length === 0 && at.us >= 0
    while (ahead.start < to) {
      const begins = mayBePlain === true && framer.isAtLineStart
      ahead.look(begins)
      if (ahead.end > to || (begins && ahead.mayWait)) return
      if (ahead.isPlain) this.#takePlain(side, ahead, at, taker!)
      else this.#frame(side, ahead, at, sink)
      ahead.next()
    }
  }

  /** A function of its own, like `#frame`: the engine compiles the loop around it again and again. */
  #takePlain(side: ChannelState, ahead: BatchLines, at: Moment, taker: LineTaker): void {
    const { endOffset } = ahead
    const line = this.#plainMessages.lineOf(ahead, side.direction, this.#stamp(at))
    taker.addPlain(line, this.#plainMessages.refs.ids)
    side.framer.skip(ahead.end - ahead.start)
    side.recorded = endOffset
    side.deliveries.remember(line.id, endOffset + side.shift)
  }

  #frame(side: ChannelState, ahead: BatchLines, at: Moment, sink: (record: TapeRecord) => void): void {
    for (const frame of side.framer.push(ahead.bytes.subarray(ahead.start, ahead.end))) {
      const record = this.#recordOf(side, frame, at)
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

  #messageRecord(side: ChannelState, frame: LineFrame, at: Moment): TapeRecord | undefined {
    const { channel, direction } = side
    if (frame.kind === 'piece') return this.#oversizeRecord(side, frame, at)
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
    const judged = judgedAt(side, frame.endOffset)
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
    if (judged) return this.#judge(side, record, frame.endOffset, judged)
    remember(side, parts, frame.endOffset + side.shift)
    return record
  }

  #judge(side: ChannelState, message: MessageRecord, endOffset: number, judged: JudgedFrame): TapeRecord {
    const record = this.#book.judged(message, judged)
    side.shift += judged.sizeBytes - judged.place.sizeBytes
    if (record.type === 'message') remember(side, record.parts, endOffset + side.shift)
    return record
  }

  #takeEntry(entry: GateEntry, at: Moment): TapeRecord | undefined {
    switch (entry.kind) {
      case 'judge':
        if ('channel' in entry.place)
          this.#sides[entry.place.channel].judged.push({ ...entry, place: entry.place })
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
    const side = this.#sides[direction === 'client_to_server' ? 'in' : 'out']
    side.shift += sizeBytes
    remember(side, parts, endOffset)
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
      return relatePart({ id, ...part }, this.#plainMessages.refs.withIds(seen))
    })
  }

  #oversizeRecord(
    side: ChannelState,
    frame: Extract<LineFrame, { kind: 'piece' }>,
    at: Moment,
  ): TapeRecord | undefined {
    const current = (side.oversize ??= { hash: createHash('sha256'), bytes: 0 })
    current.hash.update(frame.bytes)
    current.bytes += frame.bytes.length
    if (!frame.last) return undefined
    side.oversize = undefined
    this.#numbers.next += 1
    return {
      type: 'gap',
      ...this.#stamp(at),
      lost: 1,
      lostBytes: current.bytes,
      why: whyTooLong(longestMessage),
      direction: side.direction,
      sha256: current.hash.digest('hex'),
    }
  }
}

/**
 * Adds the region of a channel to its lines. Returns the index of the region's first byte there. Apart from the loop over
 * chunks, because `regions` has many shapes.
 */
function beginBatch({ channel, lines, seenBytes }: ChannelState, regions: ChunkBatch['regions']): number {
  const region = regions[channel]
  if (region) lines.begin(region, seenBytes)
  return lines.length - (region?.length ?? 0)
}

/** An incomplete line, which waited for its end, goes to the framer. */
function passRest({ lines, framer }: ChannelState): void {
  const rest = lines.takeRest()
  if (rest.length > 0) framer.push(rest)
}

function judgedAt({ judged }: ChannelState, endOffset: number): JudgedFrame | undefined {
  // Decisions about lost frames are skipped.
  while (judged.length > 0 && judged[0]!.place.endOffset < endOffset) judged.shift()
  return judged[0]?.place.endOffset === endOffset ? judged.shift() : undefined
}

function remember({ deliveries }: ChannelState, parts: readonly Part[], endOffset: number): void {
  for (const part of parts) deliveries.remember(part.id!, endOffset)
}

function frameEndOf(end: 'lf' | FrameEnd): { frameEnd?: FrameEnd } {
  return end === 'lf' ? {} : { frameEnd: end }
}
