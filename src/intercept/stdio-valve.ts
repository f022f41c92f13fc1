import { randomUUID } from 'node:crypto'
import type { Direction } from '../model/index.js'
import type { Decision } from './decision.js'
import type { Judgement, Offer } from './frame.js'
import { unsent, type FramePlace, type Ledger, type Sent } from './ledger.js'
import { whyUnread } from './unread.js'
import { longestMessage, readFrame, type FrameText } from '../wire/index.js'

const LF = 0x0a
const CR = 0x0d

/** One direction of a stdio transport, as a valve needs it. */
export interface ValvePort {
  readonly channel: 'in' | 'out'
  /** Bytes received before the valve was inserted. */
  readonly receivedBytes: number
  /** False if the start of a line was already forwarded. */
  readonly atLineStart: boolean
  /** Passes bytes to the destination; returns the total bytes passed so far. */
  write(bytes: Uint8Array): number
  /** The held messages changed: reading may stop, continue, or end. */
  changed(): void
}

export interface ValveOptions {
  /** False if a frame need not be offered, judged by its bytes as Latin-1. */
  mayConcern(bytes: string, direction: Direction): boolean
  offer(offer: Offer): Judgement
  /** The limit for held messages is reached: stop reading until one is released. */
  isFull(): boolean
  readonly ledger: Ledger
  /** Sends an injected message in the other direction. */
  answer(text: string, rule: string | undefined): void
  /** A possible message was forwarded without inspection. */
  unseen(why: string): void
  /** Closes the connection, as required by a rule. */
  disconnect(why: string): void
}

/**
 * Splits one direction into frames, offers each to the gate, and writes the forwarded ones. A frame whose start was
 * already forwarded is completed unchanged.
 */
export interface StdioValve {
  push(chunk: Uint8Array, wallMs: number): void
  /** The source ended: a last line without a line end is a frame. */
  sourceEnded(): void
  /** Forwards the buffered start of an unfinished line; no more input follows. */
  leave(): void
  /** Sends an injected message at the next frame boundary. */
  inject(text: string, entry: { readonly id: string; readonly rule?: string | undefined }): void
  readonly isHolding: boolean
  readonly isFull: boolean
}

const nothing = new Uint8Array(0)
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function createStdioValve(port: ValvePort, options: ValveOptions): StdioValve {
  return new StdioFrameValve(port, options)
}

class StdioFrameValve implements StdioValve {
  readonly #port: ValvePort
  readonly #options: ValveOptions
  readonly #channel
  readonly #ledger
  readonly #direction: Direction
  #aligned
  #partial: Uint8Array[] = []
  #partialBytes = 0
  /** Bytes of the source before the frame being assembled. */
  #offset
  #holding = 0
  /** Injected messages that wait for a frame boundary. */
  #waiting: (() => void)[] = []
  /** Unchanged frames of the current chunk: written in one piece. */
  #passing: { readonly chunk: Uint8Array; readonly start: number; end: number } | undefined

  constructor(port: ValvePort, options: ValveOptions) {
    this.#port = port
    this.#options = options
    const { channel } = port
    this.#channel = channel
    const { ledger } = options
    this.#ledger = ledger
    this.#direction = this.#channel === 'in' ? 'client_to_server' : 'server_to_client'
    this.#aligned = port.atLineStart
    this.#offset = port.receivedBytes
  }

  push(chunk: Uint8Array, wallMs: number): void {
    let from = 0
    if (!this.#aligned) {
      from = chunk.indexOf(LF) + 1 || chunk.length
      this.#port.write(from === chunk.length ? chunk : chunk.subarray(0, from))
      this.#offset += from
      if (chunk[from - 1] === LF) this.#align()
    }
    for (let lf = chunk.indexOf(LF, from); lf >= 0; lf = chunk.indexOf(LF, from)) {
      const end = lf + 1
      const rest = chunk.subarray(from, end)
      const isWhole = this.#partialBytes === 0
      const frame = isWhole ? rest : Buffer.concat([...this.#partial, rest])
      this.#partial = []
      this.#partialBytes = 0
      const goesOn = this.#take(frame, wallMs)
      if (goesOn && isWhole) this.#pass(chunk, from, end)
      else if (goesOn) this.#port.write(frame)
      else this.#flush()
      from = end
    }
    this.#flush()
    if (from < chunk.length) this.#keep(from === 0 ? chunk : chunk.subarray(from))
    this.#port.changed()
  }

  sourceEnded(): void {
    // A message that waits for the end of an unfinished line can no longer be sent.
    this.#waiting = []
    if (this.#partialBytes === 0) return
    const frame = Buffer.concat(this.#partial)
    this.#partial = []
    this.#partialBytes = 0
    if (this.#take(frame, Date.now())) this.#port.write(frame)
  }

  leave(): void {
    for (const part of this.#partial) this.#port.write(part)
    this.#partial = []
    this.#partialBytes = 0
  }

  get isHolding(): boolean {
    return this.#holding > 0 || this.#waiting.length > 0
  }

  get isFull(): boolean {
    return this.#options.isFull()
  }

  #flush(): void {
    if (!this.#passing) return
    const { chunk, start, end } = this.#passing
    this.#passing = undefined
    this.#port.write(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end))
  }

  #pass(chunk: Uint8Array, start: number, end: number): void {
    if (this.#passing) this.#passing.end = end
    else this.#passing = { chunk, start, end }
  }

  /** Sends a frame, or the text in its place. */
  #send(frame: Uint8Array, end: Uint8Array, text: string | undefined): Sent {
    const bytes = text === undefined ? frame : Buffer.concat([Buffer.from(text), end])
    return { sizeBytes: bytes.length, endOffset: this.#port.write(bytes) }
  }

  /** At a frame boundary, sends the waiting messages. */
  #align(): void {
    this.#aligned = true
    const steps = this.#waiting
    this.#waiting = []
    for (const step of steps) step()
  }

  /** @returns whether the frame is forwarded unchanged */
  #take(frame: Uint8Array, wallMs: number): boolean {
    if (!this.#options.mayConcern(latin1Of(frame), this.#direction)) {
      this.#offset += frame.length
      return true
    }
    const lineEnd = endOf(frame)
    const line = frame.subarray(0, frame.length - lineEnd.length)
    const text = utf8Text(line)
    const read = text === undefined ? undefined : readFrame(text)
    this.#offset += frame.length
    if (!read) {
      this.#tellUnseen(line, undefined)
      return true
    }
    const place: FramePlace = { channel: this.#channel, endOffset: this.#offset, sizeBytes: frame.length }
    // No frame can follow a last line without a line end; its replacement gets one.
    const end = lineEnd.length === 0 ? Uint8Array.of(LF) : lineEnd
    const judgement = this.#options.offer({
      ...read,
      direction: this.#direction,
      transport: 'stdio',
      conversation: '',
      wallMs,
      settle: (id, decision, heldMs) => {
        const sent = decision.verdict === 'forward' ? this.#send(frame, end, decision.text) : unsent
        this.#ledger.enter({ kind: 'settle', id, decision, heldMs, sent })
        this.#repeat(read.text, decision)
        this.#holding -= 1
        this.#port.changed()
        if (decision.verdict === 'disconnect') this.#options.disconnect(decision.why ?? '')
      },
    })
    if (!judgement) {
      this.#tellUnseen(line, read)
      return true
    }
    const { id, ...decision } = judgement
    let sizeBytes = 0
    if (decision.verdict === 'hold') this.#holding += 1
    else {
      this.#flush()
      sizeBytes = this.#send(frame, end, decision.text).sizeBytes
      // After the frame itself is recorded.
      queueMicrotask(() => this.#repeat(read.text, decision))
    }
    this.#ledger.enter({ kind: 'judge', place, id, decision, sizeBytes })
    return false
  }

  #tellUnseen(line: Uint8Array, read: FrameText | undefined): void {
    const why = whyUnread(line, read)
    if (why !== undefined) this.#options.unseen(why)
  }

  /** Sends a rule's copies of the message, and its responses to the message or to parts of it. */
  #repeat(original: string, { text = original, copies, answers, rule }: Decision): void {
    for (let n = 0; n < copies; n += 1) this.inject(text, { id: randomUUID(), rule })
    for (const answer of answers) this.#options.answer(answer, rule)
  }

  inject(text: string, entry: { readonly id: string; readonly rule?: string | undefined }): void {
    if (!this.#aligned) return void this.#waiting.push(() => this.inject(text, entry))
    const sent = this.#send(nothing, Uint8Array.of(LF), text)
    this.#ledger.enter({ kind: 'inject', direction: this.#direction, text, sent, ...entry })
  }

  /** Buffers the start of a line. A line that gets too long is forwarded as it arrives. */
  #keep(rest: Uint8Array): void {
    this.#partial.push(rest)
    this.#partialBytes += rest.length
    if (this.#partialBytes <= longestMessage) return
    for (const part of this.#partial) this.#port.write(part)
    this.#offset += this.#partialBytes
    this.#partial = []
    this.#partialBytes = 0
    this.#aligned = false
  }
}

/** One character per byte: the fastest form for searching bytes. */
function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

function endOf(frame: Uint8Array): Uint8Array {
  if (frame.at(-1) !== LF) return frame.subarray(frame.length)
  return frame.subarray(frame.at(-2) === CR ? frame.length - 2 : frame.length - 1)
}

/** Undefined if the bytes are not UTF-8, and so not a message. */
function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
