import { randomUUID } from 'node:crypto'
import { matchFilter, type Filter } from '../filter/index.js'
import { isAnswer, opposite, type Direction } from '../model/index.js'
import { createExchangeKeys, requestKey } from './exchange-key.js'
import { idInUse } from './fault.js'
import type { Offer, Verdict } from './frame.js'
import { liveSubject, type Asked } from './live-subject.js'
import { ruleOf, type RuleChanges } from './rule-changes.js'
import type { RuleDecision, Rules } from './rules/index.js'

/** Held messages above these bounds: what comes is not read before one goes on. */
const mostHeldBytes = 64 * 1024 * 1024
const mostHeld = 10_000
/** Requests whose method and name are remembered for filters on their answers. */
const rememberedRequests = 4_096

export type HeldReason = 'hold' | 'breakpoint' | 'rule' | 'order'
export type Outcome = 'forwarded' | 'edited' | 'dropped' | 'answered'
export type Cause = 'screen' | 'rule' | 'timeout' | 'detach' | 'passthrough' | 'order' | 'end'

/** A message that waits. */
export interface HeldMessage {
  readonly id: string
  readonly offer: Offer
  reason: HeldReason
  /** The rule, or the breakpoint's filter. */
  readonly by?: string
  readonly rule?: string
  /** What a rule made of it: goes on in its place unless a person decides otherwise. */
  readonly text?: string
  /** How often a rule wants it passed on besides. */
  readonly copies?: number
  /** What a rule answered of a batch: goes to its sender when the rest goes on, or does not. */
  readonly answers?: readonly string[]
  readonly sinceMs: number
  /** Milliseconds since the epoch at which it goes on by itself. */
  readonly untilMs?: number
  moot?: string
  /** What a rule has decided about it and does by itself, now or after its delay: nobody else need decide. */
  plan?: () => void
  /** Its time came while it stood behind another one: what happens to it when it is first. */
  due?: () => void
}

/** What the gate tells. */
export interface GateObserver {
  held(message: HeldMessage): void
  changed(message: HeldMessage): void
  released(message: HeldMessage, outcome: Outcome, cause: Cause, text?: string): void
}

export interface GateSettings {
  /** Stops messages: what a breakpoint matches or, without breakpoints, all. */
  hold: boolean
  breakpoints: readonly Filter[]
  /** Everything is stopped, whatever the breakpoints say. */
  everything: boolean
  readonly order: 'exchange' | 'fifo'
  readonly holdTimeoutMs: number | undefined
  rules: Rules | undefined
}

/**
 * What passes here goes on, is changed, or waits. A message that waits blocks later ones of its own exchange only, or
 * of its direction. Knows no transport: each offer brings its own way on.
 */
export class Gate {
  readonly settings: GateSettings
  readonly #observer: GateObserver
  readonly #keys = createExchangeKeys()
  readonly #held = new Map<string, HeldMessage>()
  /** What waits behind what, in the order of arrival. */
  readonly #lines = new Map<string, HeldMessage[]>()
  readonly #lineOf = new Map<string, string>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  readonly #asked = new Map<string, Asked>()
  /** Answers that are ours: their requests were injected. By the key of the request. */
  readonly #expected = new Map<string, (text: string) => void>()
  #heldBytes = 0

  constructor(settings: GateSettings, observer: GateObserver) {
    this.settings = settings
    this.#observer = observer
  }

  get held(): ReadonlyMap<string, HeldMessage> {
    return this.#held
  }

  get isFull(): boolean {
    return this.#heldBytes > mostHeldBytes || this.#held.size >= mostHeld
  }

  /** True while frames have to come by here. */
  get isNeeded(): boolean {
    const { hold, everything, rules } = this.settings
    return hold || everything || rules !== undefined || this.#held.size > 0 || this.#expected.size > 0
  }

  /**
   * Whether a frame has to be offered: false when a look at its bytes tells that nothing here is about it.
   *
   * @param bytes as Latin-1
   */
  mayConcern(bytes: string, direction: Direction): boolean {
    const { hold, everything, rules } = this.settings
    if (hold || everything || this.#held.size > 0 || this.#expected.size > 0) return true
    return rules?.mayConcern(bytes, direction) ?? false
  }

  offer(offer: Offer): Verdict {
    const expected = this.#takeExpected(offer)
    if (expected) return expected
    this.#noteCancel(offer)
    const asked = offer.parts.map((part) => this.#askedBy(offer, part.envelope))
    const decision = this.#ask(offer, asked)
    const line = this.#lineFor(offer)
    const behind = line !== undefined && (this.#expected.has(line) || this.#lines.has(line))
    if (decision && (decision.verdict !== 'forward' || decision.delayMs > 0)) {
      return this.#byRule(offer, decision, line)
    }
    const held = this.#reasonToHold(offer, asked) ?? (behind ? { reason: 'order' as const } : undefined)
    if (held) return this.#hold(offer, held.reason, line, { ...held, ...(decision && ruleOf(decision)) })
    if (!decision) return undefined
    const { text, rule, copies, answers } = decision
    return { kind: 'pass', id: randomUUID(), ...(text !== undefined && { text }), rule, copies, answers }
  }

  #ask(offer: Offer, asked: readonly (Asked | undefined)[]): RuleDecision | undefined {
    return this.settings.rules?.decide({
      raw: offer.text,
      batch: offer.batch,
      parts: offer.parts.map((part, i) => ({
        start: part.start,
        end: part.end,
        subject: liveSubject(offer, part, asked[i]),
      })),
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

  /** A rule that stops a message, for a time or for good. */
  #byRule(offer: Offer, decision: RuleDecision, line: string | undefined): Verdict {
    const { verdict, rule, delayMs, answers, problem } = decision
    const verdictOf = this.#hold(offer, 'rule', line, {
      by: rule,
      ...ruleOf(decision),
      ...(verdict !== 'hold' && { silent: delayMs === 0 }),
    })
    if (verdict === 'hold') return verdictOf
    const { id } = verdictOf
    const message = this.#held.get(id)!
    const act = (): void => {
      if (!this.#held.has(id)) return
      const why = problem ?? `by the rule ${rule}`
      if (verdict === 'forward') this.forward(message, 'rule')
      else if (verdict === 'disconnect') this.drop(message, 'rule', why, [], true)
      else this.drop(message, 'rule', why, answers)
    }
    message.plan = act
    if (delayMs > 0) this.#after(message, delayMs, act)
    // Not before the offer is over.
    else queueMicrotask(act)
    return verdictOf
  }

  #hold(
    offer: Offer,
    reason: HeldReason,
    line: string | undefined,
    more: { by?: string; silent?: boolean } & RuleChanges,
  ): { readonly kind: 'hold'; readonly id: string; readonly rule?: string } {
    const { silent, by, rule, text, copies, answers } = more
    const { holdTimeoutMs } = this.settings
    const nowMs = Date.now()
    // What only waits behind another one goes on with that.
    const timed = holdTimeoutMs !== undefined && silent === undefined && reason !== 'order'
    const message: HeldMessage = {
      id: randomUUID(),
      offer,
      reason,
      ...(by !== undefined && { by }),
      ...(rule !== undefined && { rule }),
      ...(text !== undefined && { text }),
      ...(copies !== undefined && { copies }),
      ...(answers !== undefined && { answers }),
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
    if (!silent) this.#observer.held(message)
    return { kind: 'hold', id, ...(rule !== undefined && { rule }) }
  }

  /** Acts after a time; for what then stands behind another one, as soon as it is first. */
  #after(message: HeldMessage, delayMs: number, act: () => void): void {
    const dueNow = (): void => {
      const key = this.#lineOf.get(message.id)
      const isFirst = key === undefined || this.#lines.get(key)?.[0] === message
      if (isFirst && !this.#expected.has(key ?? '')) act()
      else message.due = act
    }
    this.#timers.set(message.id, setTimeout(dueNow, delayMs))
  }

  /** @param text what goes on in its place; as it came, or as a rule made it, without */
  forward(message: HeldMessage, cause: Cause, text?: string): void {
    if (!this.#remove(message)) return
    this.#send(message, cause, text)
    this.#next(message)
  }

  #send(message: HeldMessage, cause: Cause, text?: string): void {
    const { id, rule, offer, copies, answers } = message
    const instead = text ?? message.text
    const heldMs = Math.round(performance.now() - message.sinceMs)
    offer.passage.forward(id, {
      heldMs,
      ...(instead !== undefined && instead !== offer.text && { text: instead }),
      ...(rule !== undefined && { rule }),
      ...(copies !== undefined && { copies }),
      ...(answers !== undefined && { answers }),
    })
    this.#observer.released(message, text === undefined ? 'forwarded' : 'edited', cause, text)
  }

  /** @param disconnect closes the connection that it came on */
  drop(
    message: HeldMessage,
    cause: Cause,
    why: string,
    answers = message.answers ?? [],
    disconnect = false,
  ): void {
    if (!this.#remove(message)) return
    const { id, rule, offer } = message
    offer.passage.drop(id, { why, answers, disconnect, ...(rule !== undefined && { rule }) })
    this.#observer.released(message, answers.length > 0 ? 'answered' : 'dropped', cause)
    this.#next(message)
  }

  /** Nobody waits for it any more; a person still decides. */
  moot(message: HeldMessage, why: string): void {
    if (message.moot !== undefined) return
    message.moot = why
    this.#observer.changed(message)
  }

  /**
   * The answer to a request that we send is given to `take` and not passed on. A request of the same id waits until then.
   *
   * @throws GateFault `invalid` when an answer under that id belongs to somebody already
   */
  expect(key: string, take: (text: string) => void): { cancel(): void } {
    if (this.#expected.has(key) || this.#asked.has(key)) throw idInUse()
    this.#expected.set(key, take)
    return {
      cancel: () => {
        if (this.#expected.get(key) !== take) return
        this.#expected.delete(key)
        this.#advance(key)
      },
    }
  }

  #takeExpected(offer: Offer): Verdict {
    if (this.#expected.size === 0 || offer.batch) return undefined
    const { envelope } = offer.parts[0]!
    if (!isAnswer(envelope) || envelope.id === undefined) return undefined
    const key = requestKey(offer.conversation, opposite(offer.direction), envelope.id)
    const take = this.#expected.get(key)
    if (!take) return undefined
    this.#expected.delete(key)
    const id = randomUUID()
    queueMicrotask(() => {
      this.#advance(key)
      offer.passage.drop(id, { why: 'the answer to an injected request, which its peer never sent' })
      take(offer.text)
    })
    return { kind: 'hold', id }
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

  /** Remembers what requests are about, and says what this answer's was. */
  #askedBy(offer: Offer, envelope: Offer['parts'][number]['envelope']): Asked | undefined {
    if (envelope.id === undefined) return undefined
    const { conversation, direction } = offer
    if (isAnswer(envelope)) {
      const key = requestKey(conversation, opposite(direction), envelope.id)
      const asked = this.#asked.get(key)
      this.#asked.delete(key)
      return asked
    }
    if (envelope.kind !== 'request') return undefined
    if (this.#asked.size >= rememberedRequests) this.#asked.delete(this.#asked.keys().next().value!)
    this.#asked.set(requestKey(conversation, direction, envelope.id), {
      method: envelope.method ?? null,
      name: envelope.subject ?? null,
    })
    return undefined
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

  /** What only waited behind it goes on, and what is due; what waits for a person does now. */
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
    if (!line || this.#expected.has(key)) return
    for (let first = line[0]; first && isReady(first); first = line[0]) {
      line.shift()
      this.#lineOf.delete(first.id)
      if (first.due) first.due()
      else if (this.#remove(first)) this.#send(first, 'order')
    }
    if (line.length === 0) this.#lines.delete(key)
  }
}

function isReady({ reason, due }: HeldMessage): boolean {
  return reason === 'order' || due !== undefined
}
