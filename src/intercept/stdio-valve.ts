import { randomUUID } from 'node:crypto'
import type { Direction } from '../model/index.js'
import type { Offer, Verdict } from './frame.js'
import type { FramePlace, Ledger, Sent } from './ledger.js'
import { whyUnread } from './unread.js'
import { longestMessage, readFrame, type FrameText } from '../wire/index.js'

const LF = 0x0a
const CR = 0x0d

/** A direction of a stdio transport, as far as a valve needs it. */
export interface ValvePort {
  readonly channel: 'in' | 'out'
  /** Bytes that came before the valve was put in. */
  readonly receivedBytes: number
  /** False when the start of a line was passed on already. */
  readonly atLineStart: boolean
  /** Hands bytes to the destination; gives back how many that has got in all. */
  write(bytes: Uint8Array): number
  /** What is held changed: reading may stop, go on, or end. */
  changed(): void
}

export interface ValveOptions {
  /** False when a frame needs not be offered, by its bytes as Latin-1. */
  mayConcern(bytes: string, direction: Direction): boolean
  offer(offer: Offer): Verdict
  /** More cannot be held: nothing is to be read before something goes on. */
  isFull(): boolean
  readonly ledger: Ledger
  /** Sends a message of ours in the other direction. */
  answer(text: string, rule: string | undefined): void
  /** What its receiver may take for a message passed without being looked at. */
  unseen(why: string): void
  /** Closes the connection, as a rule demands. */
  disconnect(why: string): void
}

/**
 * Cuts one direction into frames, offers each to the gate, and writes on what may pass. A frame of which a part went by
 * before is finished as it comes.
 */
export interface StdioValve {
  push(chunk: Uint8Array, wallMs: number): void
  /** The source ended: a last line without a line end is a frame. */
  sourceEnded(): void
  /** Takes no more; what was kept of a line that has not ended is passed on. */
  leave(): void
  /** Sends a message of ours at the next frame boundary. */
  inject(text: string, entry: { readonly id: string; readonly rule?: string }): void
  readonly isHolding: boolean
  readonly isFull: boolean
}

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
  /** Bytes of the source that came before the frame that is being put together. */
  #offset
  #holding = 0
  /** Messages of ours that wait for a frame to end. */
  #waiting: (() => void)[] = []
  /** Frames of the current chunk that go on as they are: written in one piece. */
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
    // What waited for the end of a line that never ends cannot be sent.
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

  #send(text: string, end: Uint8Array): Sent {
    const bytes = Buffer.concat([Buffer.from(text), end])
    return { sizeBytes: bytes.length, endOffset: this.#port.write(bytes) }
  }

  /** Boundary of a frame: what waited for one is sent. */
  #align(): void {
    this.#aligned = true
    const steps = this.#waiting
    this.#waiting = []
    for (const step of steps) step()
  }

  /** @returns whether it goes on as it is */
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
    // A last line without a line end can be followed by nothing; what takes its place has one.
    const end = lineEnd.length === 0 ? Uint8Array.of(LF) : lineEnd
    const passage: Offer['passage'] = {
      forward: (id, { text: instead, kept, heldMs, rule, copies = 0, answers = [] }) => {
        const sent =
          instead === undefined
            ? { sizeBytes: frame.length, endOffset: this.#port.write(frame) }
            : this.#send(instead, end)
        this.#ledger.enter({
          kind: 'release',
          id,
          heldMs,
          sent,
          ...(instead !== undefined && { text: instead }),
          ...(kept && { kept }),
          ...(rule !== undefined && { rule }),
        })
        if (copies > 0 || answers.length > 0) this.#repeat(instead ?? read.text, { copies, answers, rule })
        this.#settled()
      },
      drop: (id, { why, rule, answers = [], disconnect = false }) => {
        this.#ledger.enter({ kind: 'drop', id, why, ...(rule !== undefined && { rule }) })
        for (const answer of answers) this.#options.answer(answer, rule)
        this.#settled()
        if (disconnect) this.#options.disconnect(why)
      },
    }
    const verdict = this.#options.offer({
      ...read,
      direction: this.#direction,
      transport: 'stdio',
      conversation: '',
      wallMs,
      passage,
    })
    if (!verdict) {
      this.#tellUnseen(line, read)
      return true
    }
    const { id, rule } = verdict
    if (verdict.kind === 'hold') {
      this.#holding += 1
      const hold = { kind: 'hold' as const, ...(rule !== undefined && { rule }) }
      this.#ledger.enter({ kind: 'verdict', place, id, verdict: hold })
      return false
    }
    this.#passChanged(frame, end, place, verdict)
    return false
  }

  #tellUnseen(line: Uint8Array, read: FrameText | undefined): void {
    const why = whyUnread(line, read)
    if (why !== undefined) this.#options.unseen(why)
  }

  /** A rule changed it, or wants it more than once. */
  #passChanged(
    frame: Uint8Array,
    end: Uint8Array,
    place: FramePlace,
    { id, text, kept, rule, copies, answers }: Extract<Verdict, { kind: 'pass' }>,
  ): void {
    const bytes = text === undefined ? frame : Buffer.concat([Buffer.from(text), end])
    const sizeBytes = bytes.length
    this.#flush()
    this.#port.write(bytes)
    const by = rule === undefined ? {} : { rule }
    const instead = { ...(text !== undefined && { text }), ...(kept && { kept }) }
    const verdict = { kind: 'pass' as const, ...by, sizeBytes, ...instead }
    this.#ledger.enter({ kind: 'verdict', place, id, verdict })
    const again = text ?? utf8Text(frame.subarray(0, frame.length - endOf(frame).length))!
    // After the frame itself has been recorded.
    queueMicrotask(() => this.#repeat(again, { copies, answers, rule }))
  }

  /** What a rule wants besides: the message once more, answers to a part of it. */
  #repeat(
    text: string,
    { copies, answers, rule }: { copies: number; answers: readonly string[]; rule: string | undefined },
  ): void {
    const by = rule === undefined ? {} : { rule }
    for (let n = 0; n < copies; n += 1) this.inject(text, { id: randomUUID(), ...by })
    for (const answer of answers) this.#options.answer(answer, rule)
  }

  #settled(): void {
    this.#holding -= 1
    this.#port.changed()
  }

  inject(text: string, { id, rule }: { readonly id: string; readonly rule?: string }): void {
    if (!this.#aligned)
      return void this.#waiting.push(() => this.inject(text, { id, ...(rule !== undefined && { rule }) }))
    const sent = this.#send(text, Uint8Array.of(LF))
    this.#ledger.enter({
      kind: 'inject',
      id,
      direction: this.#direction,
      text,
      sent,
      ...(rule !== undefined && { rule }),
    })
  }

  /** The start of a line. One that gets too long is passed on as it comes. */
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

/** The quickest way to look for something in bytes: each is a character. */
function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

function endOf(frame: Uint8Array): Uint8Array {
  if (frame.at(-1) !== LF) return frame.subarray(frame.length)
  return frame.subarray(frame.at(-2) === CR ? frame.length - 2 : frame.length - 1)
}

/** Undefined when it is no text: no message then. */
function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
