import { randomUUID } from 'node:crypto'
import { parseFilter, type Filter } from '../filter/index.js'
import type { Direction } from '../model/index.js'
import { GateFault } from './fault.js'
import { Gate, type Cause, type GateObserver, type HeldMessage } from './gate.js'
import { readFrame, type FrameText, type Offer, type Verdict } from './frame.js'
import { requestKey } from './exchange-key.js'
import { answerText, readTyped, withId } from './typed-text.js'
import type { Rules } from './rules/index.js'

/** How a capture is asked to hold from its start. */
export interface InterceptOptions {
  readonly hold: boolean
  /** Filters, as written. */
  readonly breakpoints: readonly string[]
  /** Everything is held until a screen comes. */
  readonly awaitScreen: boolean
  readonly order: 'exchange' | 'fifo'
  readonly holdTimeoutMs: number | undefined
  readonly onDetach: 'forward' | 'drop'
}

/** A message of ours. */
export interface Injection {
  readonly id: string
  readonly direction: Direction
  readonly text: string
  readonly conversation?: string
  readonly rule?: string
}

/** A transport that can be gated. */
export interface GatedWire {
  /** Whether frames have to be offered. Takes effect at the next frame of each direction. */
  setGated(on: boolean): void
  /** What the conversation is called in which something is injected; '' where there is only one. */
  conversationFor(injection: Pick<Injection, 'direction' | 'conversation'>): string | undefined
  /**
   * Sends a message. A transport on which an answer comes back to whoever asked (HTTP) gives it; on others it passes the
   * gate.
   *
   * @throws GateFault `no-peer`
   */
  inject(injection: Injection): { readonly answer?: Promise<string> }
}

/** What is going on at the gate, for whoever shows it. */
export interface InterceptObserver extends GateObserver {
  /** Something that `state` tells has changed. */
  stateChanged(): void
}

export interface InterceptState {
  readonly hold: boolean
  readonly breakpoints: string[]
  readonly order: 'exchange' | 'fifo'
  readonly onDetach: 'forward' | 'drop'
  readonly holdTimeoutMs: number | null
  readonly awaitsScreen: boolean
  readonly held: number
}

/** The marker of `redaction`, which is no door of ours. */
const redactionMark = '[REDACTED]'
/** An answer to an injected request is waited for this long. */
const answerWithinMs = 60_000

/** Everything that can be done to the messages of one capture while they pass. */
export class Intercept {
  readonly #gate: Gate
  readonly #options: InterceptOptions
  readonly #observer: InterceptObserver
  readonly #marker: string
  #wire: GatedWire | undefined
  #screens = 0
  #gated = false
  #injected = 0

  /**
   * @param marker what redaction puts in the place of a secret
   * @throws GateFault `invalid` for a breakpoint that is no filter
   */
  constructor(options: InterceptOptions, observer: InterceptObserver, marker = redactionMark) {
    this.#options = options
    this.#marker = marker
    this.#observer = {
      stateChanged: () => observer.stateChanged(),
      changed: (message) => observer.changed(message),
      held: (message) => {
        observer.held(message)
        observer.stateChanged()
      },
      released: (...what) => {
        observer.released(...what)
        observer.stateChanged()
        this.#steerSoon()
      },
    }
    this.#gate = new Gate(
      {
        hold: options.hold,
        breakpoints: parseBreakpoints(options.breakpoints),
        everything: options.awaitScreen,
        order: options.order,
        holdTimeoutMs: options.holdTimeoutMs,
        rules: undefined,
      },
      this.#observer,
    )
  }

  /** The transport is there. */
  connect(wire: GatedWire): void {
    this.#wire = wire
    this.#steer()
  }

  offer(offer: Offer): Verdict {
    return this.#gate.offer(offer)
  }

  get isFull(): boolean {
    return this.#gate.isFull
  }

  get held(): Iterable<HeldMessage> {
    return this.#gate.held.values()
  }

  get state(): InterceptState {
    const { settings, held } = this.#gate
    const { onDetach, order, holdTimeoutMs } = this.#options
    return {
      hold: settings.hold,
      breakpoints: settings.breakpoints.map(({ text }) => text),
      order,
      onDetach,
      holdTimeoutMs: holdTimeoutMs ?? null,
      awaitsScreen: settings.everything,
      held: held.size,
    }
  }

  set rules(rules: Rules | undefined) {
    this.#gate.settings.rules = rules
    this.#steer()
    this.#observer.stateChanged()
  }

  hold(on: boolean): void {
    this.#gate.settings.hold = on
    this.#gate.settings.everything = false
    if (!on) this.forwardAll('passthrough')
    this.#steer()
    this.#observer.stateChanged()
  }

  /** @throws GateFault `invalid` */
  setBreakpoints(texts: readonly string[]): void {
    this.#gate.settings.breakpoints = parseBreakpoints(texts)
    this.#observer.stateChanged()
  }

  /** @throws GateFault `not-held` */
  forward(id: string): void {
    this.#gate.forward(this.#heldOne(id), 'screen')
  }

  /** Returns how many. */
  forwardAll(cause: Cause = 'screen'): number {
    const all = [...this.#gate.held.values()]
    for (const message of all) this.#gate.forward(message, cause)
    return all.length
  }

  /** @throws GateFault `not-held`, `invalid`, `redacted` */
  edit(id: string, text: string): void {
    const message = this.#heldOne(id)
    this.#gate.forward(message, 'screen', readTyped(text, this.#marker, message.offer).text)
  }

  /** @throws GateFault `not-held` */
  drop(id: string): void {
    this.#gate.drop(this.#heldOne(id), 'screen', 'by a person')
  }

  /** @throws GateFault `not-held`, `invalid`, `redacted` */
  answer(
    id: string,
    outcome: { readonly result?: string | undefined; readonly error?: string | undefined },
  ): void {
    const message = this.#heldOne(id)
    const { parts, batch } = message.offer
    const { kind, id: requestId } = parts[0]!.envelope
    if (batch || kind !== 'request' || requestId === undefined) {
      throw new GateFault('invalid', 'only a single request can be answered')
    }
    const text = answerText(requestId, outcome, this.#marker)
    this.#gate.drop(message, 'screen', 'a person answered it', [text])
  }

  /**
   * Sends a message. Resolves when it is sent or, with `keepAnswer`, when its answer is there.
   *
   * @throws GateFault
   */
  async inject(
    direction: Direction,
    text: string,
    options: { readonly conversation?: string | undefined; readonly keepAnswer: boolean },
  ): Promise<{ readonly message: string; readonly answer?: string; readonly latencyMs?: number }> {
    return this.#send(direction, readTyped(text, this.#marker), options)
  }

  /**
   * Sends a request again, under an id of ours.
   *
   * @throws GateFault
   */
  async replay(
    direction: Direction,
    text: string,
    conversation: string | undefined,
  ): Promise<{
    readonly message: string
    readonly sent: string
    readonly answer?: string
    readonly latencyMs?: number
  }> {
    const frame = readTyped(text, this.#marker)
    const sent = withId(frame, JSON.stringify(`wiretape-${++this.#injected}`))
    const result = await this.#send(direction, readFrame(sent)!, { conversation, keepAnswer: true })
    return { ...result, sent }
  }

  async #send(
    direction: Direction,
    frame: FrameText,
    {
      conversation,
      keepAnswer,
    }: { readonly conversation?: string | undefined; readonly keepAnswer: boolean },
  ): Promise<{ readonly message: string; readonly answer?: string; readonly latencyMs?: number }> {
    const wire = this.#wire
    if (!wire) throw new GateFault('no-peer', 'there is nobody to send it to yet')
    const place = { direction, ...(conversation !== undefined && { conversation }) }
    const talk = wire.conversationFor(place)
    if (talk === undefined) throw new GateFault('no-peer', 'there is no such conversation')
    const id = randomUUID()
    const { kind, id: requestId } = frame.parts[0]!.envelope
    const wantsAnswer = keepAnswer && !frame.batch && kind === 'request' && requestId !== undefined
    const sentAtMs = performance.now()
    let expected: { readonly answer: Promise<string>; cancel(): void } | undefined
    if (wantsAnswer) expected = this.#expect(requestKey(talk, direction, requestId))
    let direct: Promise<string> | undefined
    try {
      direct = wire.inject({ id, text: frame.text, ...place, conversation: talk }).answer
    } catch (error) {
      expected?.cancel()
      throw error
    }
    if (!wantsAnswer) return { message: id }
    if (direct) expected!.cancel()
    try {
      const answer = await within(direct ?? expected!.answer)
      return { message: id, answer, latencyMs: Math.round((performance.now() - sentAtMs) * 1000) / 1000 }
    } finally {
      expected!.cancel()
      this.#steer()
    }
  }

  #expect(key: string): { readonly answer: Promise<string>; cancel(): void } {
    let expected: { cancel(): void } | undefined
    const answer = new Promise<string>((resolve) => {
      expected = this.#gate.expect(key, resolve)
    })
    this.#steer()
    return { answer, cancel: () => expected?.cancel() }
  }

  /** Screens came or went. What is held when the last one goes is dealt with, and holding ends. */
  attended(screens: number): void {
    const before = this.#screens
    this.#screens = screens
    const { settings } = this.#gate
    if (screens > 0 && settings.everything) {
      settings.everything = false
      settings.hold = true
      if (settings.breakpoints.length > 0) this.#reconsider()
      this.#observer.stateChanged()
    }
    if (screens === 0 && before > 0) this.#detached()
  }

  /** Held before a screen was there, and no breakpoint is about it. */
  #reconsider(): void {
    for (const message of this.#gate.held.values()) {
      if (message.reason === 'hold') this.#gate.forward(message, 'passthrough')
    }
  }

  #detached(): void {
    const { settings, held } = this.#gate
    for (const message of held.values()) {
      if (this.#options.onDetach === 'forward') this.#gate.forward(message, 'detach')
      else this.#gate.drop(message, 'detach', 'the last screen was detached')
    }
    settings.hold = false
    settings.everything = false
    this.#steer()
    this.#observer.stateChanged()
  }

  /** The sender of a direction has said all it will. */
  sourceEnded(direction: Direction): void {
    const sender = direction === 'client_to_server' ? 'its client' : 'its server'
    for (const message of this.#of(direction)) {
      if (this.#screens === 0) this.#settle(message, 'the session ended')
      else if (direction === 'client_to_server') this.#gate.moot(message, `${sender} sends nothing more`)
    }
  }

  /** Nobody takes what goes in that direction any more. */
  lost(direction: Direction, why: string): void {
    for (const message of this.#of(direction)) this.#gate.drop(message, 'end', why)
  }

  /** The session is being ended: what its client asked is not begun any more, what the server said is passed on. */
  ends(): void {
    this.#gate.settings.hold = false
    this.#gate.settings.everything = false
    this.lost('client_to_server', 'the session is being ended')
    for (const message of this.#of('server_to_client')) this.#settle(message, 'the session is being ended')
    this.#steer()
  }

  /** Over: nothing can go on any more. */
  close(): void {
    this.#wire = undefined
    for (const message of this.#gate.held.values()) this.#gate.drop(message, 'end', 'the session ended')
  }

  /** Messages of one HTTP exchange. */
  exchangeLost(exchange: number, why: string): void {
    for (const message of this.#gate.held.values()) {
      if (message.offer.exchange === exchange) this.#gate.drop(message, 'end', why)
    }
  }

  #settle(message: HeldMessage, why: string): void {
    if (this.#options.onDetach === 'forward') this.#gate.forward(message, 'end')
    else this.#gate.drop(message, 'end', why)
  }

  #of(direction: Direction): HeldMessage[] {
    return [...this.#gate.held.values()].filter(({ offer }) => offer.direction === direction)
  }

  #heldOne(id: string): HeldMessage {
    const message = this.#gate.held.get(id)
    if (!message) throw new GateFault('not-held', 'no such message is held: it may have gone on by itself')
    return message
  }

  /** Not in the middle of a frame: a settled one may be the last that kept the gate in the way. */
  #steerSoon(): void {
    queueMicrotask(() => this.#steer())
  }

  #steer(): void {
    const { isNeeded } = this.#gate
    if (!this.#wire || isNeeded === this.#gated) return
    this.#gated = isNeeded
    this.#wire.setGated(isNeeded)
  }
}

/** @throws GateFault `invalid` for a text that is no filter */
export function parseBreakpoints(texts: readonly string[]): Filter[] {
  return texts.map(toFilter)
}

function toFilter(text: string): Filter {
  const { filter, fault } = parseFilter(text)
  if (filter) return filter
  throw new GateFault(
    'invalid',
    `the filter ${JSON.stringify(text)}, column ${fault.column}: ${fault.message}`,
  )
}

function within<T>(answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new GateFault('no-answer', `no answer came within ${answerWithinMs / 1000} s`)),
      answerWithinMs,
    )
    answer.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
