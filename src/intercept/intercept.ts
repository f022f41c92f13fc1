import type { Direction, OpenRequest } from '../model/index.js'
import { GateFault, idInUse } from './fault.js'
import { Gate } from './gate.js'
import type { Cause, GateObserver, HeldMessage } from './held-message.js'
import { parseBreakpoints } from './breakpoints.js'
import type { Judgement, Offer } from './frame.js'
import { redactionMark } from './redaction-mark.js'
import { Sender } from './sender.js'
import { answerText, readTyped } from './typed-text.js'
import { GuardedRules, type Guard, type Rules } from './rules/index.js'
import type { GatedWire } from './wire.js'
import { readParts } from '../wire/index.js'

/** Initial settings for holding messages. */
export interface InterceptOptions {
  readonly hold: boolean
  /** Filters, as written. */
  readonly breakpoints: readonly string[]
  /** Holds all messages until a screen attaches. */
  readonly awaitScreen: boolean
  readonly order: 'exchange' | 'fifo'
  readonly holdTimeoutMs: number | undefined
  readonly onDetach: 'forward' | 'drop'
}

/** Events of the gate, for display. */
export interface InterceptObserver extends GateObserver {
  /** Something in `state` has changed. */
  stateChanged(): void
  /** A sentence for people. */
  notice(text: string): void
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

/** All operations on the messages of one capture in transit. */
export class Intercept {
  readonly #gate: Gate
  readonly #options: InterceptOptions
  readonly #observer: InterceptObserver
  readonly #marker: string
  #wire: GatedWire | undefined
  #openRequests: () => Promise<readonly OpenRequest[]> = () => Promise.resolve([])
  readonly #sender: Sender
  #guard: Guard | undefined
  #screens = 0
  #gated = false
  #toldFull = false

  /**
   * @param marker text by which redaction replaces a secret
   * @throws GateFault `invalid` for a breakpoint with an invalid filter
   */
  constructor(options: InterceptOptions, observer: InterceptObserver, marker = redactionMark) {
    this.#options = options
    this.#marker = marker
    this.#observer = {
      stateChanged: () => observer.stateChanged(),
      notice: (text) => observer.notice(text),
      changed: (message) => observer.changed(message),
      held: (message) => {
        observer.held(message)
        observer.stateChanged()
        this.#tellFull()
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
    this.#sender = new Sender({
      wire: () => this.#wire,
      expect: (key, take, progress) => this.#gate.expect(key, take, progress),
      changed: () => this.#steer(),
      marker,
    })
  }

  /** Sends injected messages. */
  get sender(): Sender {
    return this.#sender
  }

  /**
   * Connects the transport.
   *
   * @param openRequests pending requests of all traffic so far
   */
  connect(wire: GatedWire, openRequests?: () => Promise<readonly OpenRequest[]>): void {
    this.#wire = wire
    if (openRequests) this.#openRequests = openRequests
    this.#steer()
  }

  /** As `Gate.mayConcern`. */
  mayConcern(bytes: string, direction: Direction): boolean {
    return this.#gate.mayConcern(bytes, direction)
  }

  /** Resolves when all pending requests are known, including those from before the gate was in use. */
  async catchUp(): Promise<void> {
    this.#gate.asked.watch()
    this.#steer()
    this.#gate.asked.learn(await this.#openRequests())
    this.#steerSoon()
  }

  offer(offer: Offer): Judgement {
    const judgement = this.#gate.offer(offer)
    // It may have been the last message that needed the gate.
    if (judgement?.verdict === 'forward' && !this.#gate.isNeeded) this.#steerSoon()
    return judgement
  }

  /** Reports a message that was forwarded without inspection. */
  unseen(sentence: string): void {
    this.#observer.notice(sentence)
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

  /** Inspects every message before the rules. Set it before the transport is connected. */
  set guard(guard: Guard | undefined) {
    this.#guard = guard
    this.rules = undefined
  }

  set rules(rules: Rules | undefined) {
    this.#gate.settings.rules = this.#guard ? new GuardedRules(this.#guard, rules) : rules
    this.#steer()
    this.#observer.stateChanged()
  }

  hold(on: boolean): void {
    // The screen that sent the command has detached: nothing would release held messages.
    if (on && this.#screens === 0) return
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

  /** Returns their number. Messages with a pending rule action are left to the rule. */
  forwardAll(cause: Cause = 'screen'): number {
    const all = [...this.#gate.held.values()].filter(({ plan }) => !plan)
    for (const message of all) this.#gate.forward(message, cause)
    return all.length
  }

  /** @throws GateFault `not-held`, `invalid`, `redacted` */
  edit(id: string, text: string): void {
    const message = this.#heldOne(id)
    // It replaces the text as changed by a rule.
    const { text: changed, kept } = message.decision
    const shown = changed === undefined ? message.offer : readParts(changed)
    const typed = readTyped(text, this.#marker, shown).text
    if (this.#gate.wouldClash(message.offer, typed, kept)) throw idInUse()
    this.#gate.forward(message, 'screen', typed)
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
      throw new GateFault('invalid', 'only a single request can get a response')
    }
    const text = answerText(requestId, outcome, this.#marker)
    this.#gate.drop(message, 'screen', 'a person answered it', [text])
  }

  /** Screens attached or detached. When the last one detaches, held messages are released and holding ends. */
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

  /** Forwards messages that were held before a screen attached and match no breakpoint. */
  #reconsider(): void {
    for (const message of this.#gate.held.values()) {
      if (message.reason === 'hold') this.#gate.forward(message, 'passthrough')
    }
  }

  #detached(): void {
    const { settings, held } = this.#gate
    for (const message of held.values()) {
      if (message.plan) continue
      if (this.#options.onDetach === 'forward') this.#gate.forward(message, 'detach')
      else this.#gate.drop(message, 'detach', 'the last screen was detached')
    }
    settings.hold = false
    settings.everything = false
    this.#steer()
    this.#observer.stateChanged()
  }

  /** The sender of a direction has ended its stream. */
  sourceEnded(direction: Direction): void {
    const sender = direction === 'client_to_server' ? 'its client' : 'its server'
    for (const message of this.#of(direction)) {
      if (message.plan) continue
      if (this.#screens === 0) this.#settle(message, 'the session ended')
      else if (direction === 'client_to_server') this.#gate.moot(message, `${sender} has closed its input`)
    }
  }

  /** The receiver of a direction is gone. */
  lost(direction: Direction, why: string): void {
    for (const message of this.#of(direction)) this.#gate.drop(message, 'end', why)
  }

  /** The session is ending: held messages of the client are dropped, those of the server are forwarded. */
  ends(): void {
    this.#gate.settings.hold = false
    this.#gate.settings.everything = false
    this.lost('client_to_server', 'the session is ending')
    for (const message of this.#of('server_to_client')) this.#settle(message, 'the session is ending')
    this.#steer()
  }

  /** The session is over: held messages are dropped. */
  close(): void {
    this.#wire = undefined
    this.#sender.close()
    for (const message of this.#gate.held.values()) this.#gate.drop(message, 'end', 'the session ended')
  }

  /** Drops the held messages of one HTTP exchange. */
  exchangeLost(exchange: number, why: string): void {
    for (const message of this.#gate.held.values()) {
      if (message.offer.exchange === exchange) this.#gate.drop(message, 'end', why)
    }
    this.#gate.forget(exchange)
    this.#steerSoon()
  }

  #settle(message: HeldMessage, why: string): void {
    if (message.plan) message.plan()
    else if (this.#options.onDetach === 'forward') this.#gate.forward(message, 'end')
    else this.#gate.drop(message, 'end', why)
  }

  #of(direction: Direction): HeldMessage[] {
    return [...this.#gate.held.values()].filter(({ offer }) => offer.direction === direction)
  }

  #heldOne(id: string): HeldMessage {
    const message = this.#gate.held.get(id)
    if (!message)
      throw new GateFault(
        'not-held',
        'the message is not held: it may have been forwarded or dropped already',
      )
    return message
  }

  /** Once, until there is room again. */
  #tellFull(): void {
    const { isFull } = this.#gate
    if (isFull && !this.#toldFull) {
      this.#observer.notice('the limit for held messages is reached: forward or drop some to continue')
    }
    this.#toldFull = isFull
  }

  /** Not in the middle of a frame: a released message may have been the last that needed the gate. */
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
