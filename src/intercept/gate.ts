import { randomUUID } from 'node:crypto'
import { matchFilter, type Filter } from '../filter/index.js'
import { isAnswer, opposite, type Direction } from '../model/index.js'
import { createAskedRequests } from './asked-requests.js'
import { unchanged, type Decision } from './decision.js'
import { createExchangeKeys, requestKey } from './exchange-key.js'
import { ExpectedAnswers, type Expectation, type ExpectedProgress } from './expected-answers.js'
import { idInUse, idInUseWords } from './fault.js'
import type { Judgement, Offer } from './frame.js'
import type { Cause, GateObserver, HeldMessage, HeldReason } from './held-message.js'
import { liveSubject, type Asked } from './live-subject.js'
import { Renames } from './renames.js'
import { goesOn } from './rule-changes.js'
import type { Rules } from './rules/index.js'
import { longestMessage } from '../wire/index.js'

/** Above this many held messages, or the size of one longest message, reading stops until one is released. */
const mostHeld = 10_000

export interface GateSettings {
  /** Holds messages: those that match a breakpoint or, without breakpoints, all. */
  hold: boolean
  breakpoints: readonly Filter[]
  /** Holds all messages, regardless of breakpoints. */
  everything: boolean
  readonly order: 'exchange' | 'fifo'
  readonly holdTimeoutMs: number | undefined
  rules: Rules | undefined
}

/**
 * Forwards, changes or holds messages. A held message blocks later ones of its own exchange only, or of its direction.
 * Independent of the transport: each offer brings its own passage.
 */
export class Gate {
  readonly settings: GateSettings
  readonly #observer: GateObserver
  readonly #keys = createExchangeKeys()
  readonly #held = new Map<string, HeldMessage>()
  /** Messages that wait for each other, in the order of arrival. */
  readonly #lines = new Map<string, HeldMessage[]>()
  readonly #lineOf = new Map<string, string>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  /** Requests that passed the gate. */
  readonly asked = createAskedRequests()
  readonly #expected = new ExpectedAnswers((key) => this.#advance(key))
  readonly #renames = new Renames()
  #heldBytes = 0

  constructor(settings: GateSettings, observer: GateObserver) {
    this.settings = settings
    this.#observer = observer
  }

  get held(): ReadonlyMap<string, HeldMessage> {
    return this.#held
  }

  get isFull(): boolean {
    return this.#heldBytes > longestMessage || this.#held.size >= mostHeld
  }

  /** Whether frames must pass the gate. */
  get isNeeded(): boolean {
    const { hold, everything, rules } = this.settings
    return hold || everything || rules !== undefined || this.#isOccupied
  }

  get #isOccupied(): boolean {
    return this.#held.size > 0 || !this.#expected.isEmpty || this.#renames.size > 0 || this.asked.isWatching
  }

  /**
   * Whether a frame must be offered. False if its bytes show that no setting applies to it.
   *
   * @param bytes as Latin-1
   */
  mayConcern(bytes: string, direction: Direction): boolean {
    const { hold, everything, rules } = this.settings
    if (hold || everything || this.#isOccupied) return true
    return rules?.mayConcern(bytes, direction) ?? false
  }

  offer(came: Offer): Judgement {
    const expected = this.#takeExpected(came)
    if (expected) return expected
    const translated = this.#renames.translate(came)
    for (const key of this.#renames.settle(came)) this.#advance(key)
    const offer = translated ? { ...came, ...translated, arrived: came.text } : came
    this.#noteCancel(offer)
    this.#expected.giveUp(offer.parts, offer.conversation, offer.direction)
    const asked = offer.parts.map((part) => this.asked.about(offer, part.envelope))
    const decision = this.#ask(offer, asked)
    const line = this.#lineFor(offer)
    const behind = line !== undefined && (this.#isTaken(line) || this.#lines.has(line))
    if (decision && (decision.verdict !== 'forward' || decision.delayMs > 0)) {
      return this.#byRule(offer, decision, line)
    }
    const held = this.#reasonToHold(offer, asked) ?? (behind ? { reason: 'order' as const } : undefined)
    if (held) return this.#hold(offer, { ...held, line, decision })
    if (!decision) return translated && { ...unchanged, id: randomUUID(), text: translated.text }
    const { text = translated?.text, kept } = decision
    if (text !== undefined) this.#renames.note(offer, text, kept)
    return { ...decision, id: randomUUID(), text }
  }

  /** Whether responses with this id are reserved for an injected or changed request. */
  #isTaken(key: string): boolean {
    return this.#expected.has(key) || this.#renames.has(key)
  }

  /** Whether the text gives a request the id of another pending request. */
  wouldClash(offer: Offer, text: string, kept?: readonly number[]): boolean {
    const clashes = this.#clashes()
    return this.#renames.changes(offer, text, kept).some(clashes)
  }

  /** Checks the changed requests of one frame, in order: true if the new id is not free. */
  #clashes(): (change: { readonly from: string; readonly to: string }) => boolean {
    const given = new Set<string>()
    return ({ from, to }) => {
      const isFree = !this.#isTaken(to) && (to === from || !this.asked.has(to)) && !given.has(to)
      given.add(to)
      return !isFree
    }
  }

  /** As `#clashes`, per message: by its index and its changed text. */
  #refuser(offer: Offer): (part: number, text: string) => boolean {
    const clashes = this.#clashes()
    return (part, text) => {
      const change = this.#renames.change(offer, part, text)
      return change !== undefined && clashes(change)
    }
  }

  #ask(offer: Offer, asked: readonly (Asked | undefined)[]): Decision | undefined {
    const { rules } = this.settings
    if (!rules) return undefined
    const refuses = this.#refuser(offer)
    return rules.decide({
      ...offer,
      subjects: offer.parts.map((part, i) => liveSubject(offer, part, asked[i])),
      refusal: (part, text) => (refuses(part, text) ? idInUseWords : undefined),
    })
  }

  #reasonToHold(
    offer: Offer,
    asked: readonly (Asked | undefined)[],
  ): { reason: HeldReason; by?: string } | undefined {
    const { hold, everything, breakpoints } = this.settings
    if (!hold && !everything) return undefined
    const met = breakpoints.find((filter) =>
      offer.parts.some((part, i) => matchFilter(filter, liveSubject(offer, part, asked[i]))),
    )
    if (met) return { reason: 'breakpoint', by: met.text }
    return everything || breakpoints.length === 0 ? { reason: 'hold' } : undefined
  }

  /** Applies a rule that holds, delays, drops or answers a message. */
  #byRule(offer: Offer, decision: Decision, line: string | undefined): Judgement {
    const { verdict, rule, delayMs, answers, why = `by the rule ${rule}` } = decision
    const isPlanned = verdict !== 'hold'
    const judgement = this.#hold(offer, {
      reason: 'rule',
      by: rule,
      line,
      decision,
      isPlanned,
      isSilent: isPlanned && delayMs === 0,
    })
    if (!isPlanned) return judgement
    const { id } = judgement
    const message = this.#held.get(id)!
    const act = (): void => {
      if (!this.#held.has(id)) return
      if (verdict === 'forward') this.forward(message, 'rule')
      else this.drop(message, 'rule', why, verdict === 'drop' ? answers : [], verdict)
    }
    message.plan = act
    if (delayMs > 0) this.#after(message, delayMs, act)
    // Not before the offer has returned.
    else queueMicrotask(act)
    return judgement
  }

  #hold(
    offer: Offer,
    why: {
      readonly reason: HeldReason
      readonly by?: string | undefined
      readonly line: string | undefined
      readonly decision: Decision | undefined
      /** A rule releases it. */
      readonly isPlanned?: boolean
      /** Released at once: observers need not know. */
      readonly isSilent?: boolean
    },
  ): NonNullable<Judgement> {
    const { reason, by, line, decision = unchanged, isPlanned = false, isSilent = false } = why
    const { holdTimeoutMs } = this.settings
    const nowMs = Date.now()
    // A message that is only blocked by another one is released with it.
    const timed = holdTimeoutMs !== undefined && !isPlanned && reason !== 'order'
    const message: HeldMessage = {
      id: randomUUID(),
      offer,
      reason,
      by,
      decision: { ...decision, verdict: 'forward' },
      sinceMs: performance.now(),
      ...(timed && { untilMs: nowMs + holdTimeoutMs }),
    }
    const { id } = message
    this.#held.set(id, message)
    this.#heldBytes += offer.text.length
    if (line !== undefined) {
      const others = this.#lines.get(line)
      if (others) others.push(message)
      else this.#lines.set(line, [message])
      this.#lineOf.set(id, line)
    }
    if (timed) this.#after(message, holdTimeoutMs, () => this.forward(message, 'timeout'))
    if (!isSilent) this.#observer.held(message)
    return { ...unchanged, verdict: 'hold', id, rule: decision.rule }
  }

  /** Acts after a delay; for a blocked message, as soon as it is first in line. */
  #after(message: HeldMessage, delayMs: number, act: () => void): void {
    const dueNow = (): void => {
      const key = this.#lineOf.get(message.id)
      const isFirst = key === undefined || this.#lines.get(key)?.[0] === message
      if (isFirst && !this.#isTaken(key ?? '')) act()
      else message.due = act
    }
    this.#timers.set(message.id, setTimeout(dueNow, delayMs))
  }

  /** @param text replacement. @default the original text, or the rule's */
  forward(message: HeldMessage, cause: Cause, text?: string): void {
    if (!this.#remove(message)) return
    this.#send(message, cause, text)
    this.#next(message)
  }

  #send(message: HeldMessage, cause: Cause, text?: string): void {
    const { id, offer, decision } = message
    const { text: own, arrived = own } = offer
    // While it was held, another request may have taken the id that a rule gave it.
    const how = text === undefined ? goesOn(offer, decision, this.#refuser(offer)) : { ...decision, text }
    if (how.verdict === 'drop') return this.#dropped(message, how, cause)
    const instead = how.text ?? own
    if (instead !== own) this.#renames.note(offer, instead, how.kept)
    offer.settle(id, { ...how, text: instead === arrived ? undefined : instead }, heldMsOf(message))
    this.#observer.released(message, text === undefined ? 'forwarded' : 'edited', cause, text)
  }

  drop(
    message: HeldMessage,
    cause: Cause,
    why: string,
    answers = message.decision.answers,
    verdict: 'drop' | 'disconnect' = 'drop',
  ): void {
    if (!this.#remove(message)) return
    const { offer, decision } = message
    const text = offer.arrived === undefined ? undefined : offer.text
    this.#dropped(message, { ...unchanged, verdict, rule: decision.rule, why, answers, text }, cause)
    this.#next(message)
  }

  #dropped(message: HeldMessage, how: Decision, cause: Cause): void {
    message.offer.settle(message.id, how, heldMsOf(message))
    this.#observer.released(message, how.answers.length > 0 ? 'answered' : 'dropped', cause)
  }

  /** The message is no longer needed; a person still decides. */
  moot(message: HeldMessage, why: string): void {
    if (message.moot !== undefined) return
    message.moot = why
    this.#observer.changed(message)
  }

  /**
   * Passes the response to an injected request to `take` only. A request with the same id is held until then.
   *
   * @throws GateFault `invalid` if a response with this id is already expected
   */
  expect(key: string, take: (text: string) => void, progress?: ExpectedProgress): Expectation {
    if (this.#isTaken(key) || this.asked.has(key)) throw idInUse()
    return this.#expected.expect(key, take, progress)
  }

  #takeExpected(offer: Offer): Judgement {
    if (this.#expected.isEmpty || offer.batch) return undefined
    const { envelope } = offer.parts[0]!
    const id = randomUUID()
    const swallow = (why: string): void => offer.settle(id, { ...unchanged, verdict: 'drop', why }, 0)
    const held = { ...unchanged, verdict: 'hold', id } as const
    if (this.#expected.takeProgress(offer, envelope)) {
      queueMicrotask(() => swallow('the progress of an injected request'))
      return held
    }
    if (!isAnswer(envelope) || envelope.id === undefined) return undefined
    const key = requestKey(offer.conversation, opposite(offer.direction), envelope.id)
    const take = this.#expected.take(key)
    if (!take) return undefined
    queueMicrotask(() => {
      this.#advance(key)
      swallow('the response to an injected request, which the other side did not send')
      take(offer.text)
    })
    return held
  }

  #noteCancel(offer: Offer): void {
    if (this.#held.size === 0) return
    for (const { envelope } of offer.parts) {
      if (envelope.cancels === undefined) continue
      const line = requestKey(offer.conversation, offer.direction, envelope.cancels)
      for (const message of this.#held.values()) {
        const { parts, direction, conversation } = message.offer
        const is = parts.some(
          (part) =>
            part.envelope.kind === 'request' &&
            part.envelope.id !== undefined &&
            direction === offer.direction &&
            requestKey(conversation, direction, part.envelope.id) === line,
        )
        if (is) this.moot(message, 'its sender cancelled it')
      }
    }
  }

  /** The HTTP exchange is over: no response arrives on it. */
  forget(exchange: number): void {
    for (const key of this.#renames.forget(exchange)) this.#advance(key)
  }

  #lineFor(offer: Offer): string | undefined {
    const { direction, conversation } = offer
    if (this.settings.order === 'fifo') return `${direction} ${conversation}`
    for (const { envelope } of offer.parts) {
      const key = this.#keys.of(envelope, direction, conversation)
      if (key !== undefined) return key
    }
    return undefined
  }

  #remove(message: HeldMessage): boolean {
    const { id } = message
    if (!this.#held.delete(id)) return false
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
    this.#heldBytes -= message.offer.text.length
    return true
  }

  /** Releases due messages, and those only blocked by this one; the others now wait for a person. */
  #next(message: HeldMessage): void {
    const key = this.#lineOf.get(message.id)
    if (key === undefined) return
    this.#lineOf.delete(message.id)
    const line = this.#lines.get(key) ?? []
    const at = line.indexOf(message)
    if (at >= 0) line.splice(at, 1)
    if (line.length === 0) this.#lines.delete(key)
    if (at === 0) this.#advance(key)
  }

  #advance(key: string): void {
    const line = this.#lines.get(key)
    if (!line || this.#isTaken(key)) return
    for (let first = line[0]; first && isReady(first); first = line[0]) {
      line.shift()
      this.#lineOf.delete(first.id)
      if (first.due) first.due()
      else if (this.#remove(first)) this.#send(first, 'order')
    }
    if (line.length === 0) this.#lines.delete(key)
  }
}

function heldMsOf({ sinceMs }: HeldMessage): number {
  return Math.round(performance.now() - sinceMs)
}

function isReady({ reason, due }: HeldMessage): boolean {
  return reason === 'order' || due !== undefined
}
