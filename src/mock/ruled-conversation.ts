import { createAskedRequests, liveSubject, type Decision, type Rules } from '../intercept/index.js'
import type { Direction, Transport } from '../model/index.js'
import { isFault, readMessages, readParts, type FrameText } from '../wire/index.js'
import { internalError, reasonOf } from './fault.js'
import type { Conversation } from './conversation.js'
import type { ServerMessage, ServerLink } from '../link/index.js'
import { sleep } from './pace.js'
import { RunningWork } from './running-work.js'

export interface RuledOptions {
  /** The rules in force. */
  readonly rules: () => Rules
  readonly transport: Transport
  readonly notice: (line: string) => void
}

/**
 * A conversation with rules between it and its client. Rules see every message of either side once, when it comes,
 * and can change, delay, drop, double or answer it.
 */
export function openRuled(
  open: (standalone: ServerLink) => Conversation,
  standalone: ServerLink,
  options: RuledOptions,
): Conversation {
  return new RuledConversation(open, standalone, options)
}

class RuledConversation implements Conversation {
  readonly #options: RuledOptions
  readonly #standalone: ServerLink
  /** The conversation behind the rules. */
  readonly #inner: Conversation
  readonly #asked = createAskedRequests()
  readonly #sinks = new WeakMap<ServerLink, ServerLink>()
  readonly #running = new RunningWork()
  readonly #closing = new AbortController()
  #toldOfHold = false

  constructor(open: (standalone: ServerLink) => Conversation, standalone: ServerLink, options: RuledOptions) {
    this.#options = options
    this.#standalone = standalone
    this.#inner = open(this.#ruled(standalone))
  }

  start(): void {
    this.#inner.start()
  }

  take(text: string, sink: ServerLink = this.#standalone): boolean {
    const frame = readMessages(text)
    if (isFault(frame)) return false
    const decision = this.#decide(frame, 'client_to_server')
    if (!decision) return this.#inner.take(frame.text, this.#ruled(sink))
    const work = this.#takeDecided(frame, sink, decision)
    this.#running.add(
      work.catch((error: unknown) =>
        this.#options.notice(`the rules could not be applied: ${reasonOf(error)}`),
      ),
    )
    return true
  }

  fits(text: string): number {
    return this.#inner.fits(text)
  }

  leave(id: string): void {
    this.#inner.leave(id)
  }

  ready(): Promise<void> {
    return this.#inner.ready()
  }

  async end(): Promise<void> {
    await this.#running.all()
    await this.#inner.end()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running.present()
    await this.#inner.close()
  }

  #decide(frame: FrameText, direction: Direction): Decision | undefined {
    const { transport, rules } = this.#options
    const offer = { ...frame, direction, transport, conversation: '', wallMs: Date.now() }
    return rules().decide({
      ...frame,
      subjects: frame.parts.map((part) => liveSubject(offer, part, this.#asked.about(offer, part.envelope))),
    })
  }

  #tellOf({ verdict, why, rule }: Decision): void {
    const { notice } = this.#options
    if (why !== undefined) notice(why)
    if (verdict !== 'hold' || this.#toldOfHold) return
    this.#toldOfHold = true
    notice(`rule ${rule} holds messages for a person; a mock cannot hold messages and delivers them`)
  }

  /** The way to the client, through the rules. */
  #ruled(sink: ServerLink): ServerLink {
    const known = this.#sinks.get(sink)
    if (known) return known
    const outer: ServerLink = {
      get isOpen() {
        return sink.isOpen
      },
      send: (message) => this.#send(message, sink),
      ...(sink.refuse && { refuse: (refusal) => sink.refuse!(refusal) }),
      ...(sink.inOnePiece && { inOnePiece: () => sink.inOnePiece!() }),
      ...(sink.cut && { cut: () => sink.cut!() }),
    }
    this.#sinks.set(sink, outer)
    return outer
  }

  async #send(message: ServerMessage, sink: ServerLink): Promise<void> {
    const frame = message.noise ? undefined : readParts(message.text)
    const decision = frame && this.#decide(frame, 'server_to_client')
    if (!decision) return sink.send(message)
    this.#tellOf(decision)
    if (decision.delayMs > 0) await sleep(decision.delayMs, this.#closing.signal)
    if (this.#closing.signal.aborted) return
    const { verdict, text = message.text, copies, answers } = decision
    if (verdict === 'disconnect') return sink.cut?.()
    // A request of the server that a rule answers never reaches the client.
    for (const answer of answers) this.#inner.take(answer)
    if (verdict === 'drop')
      return message.final ? withheld(frame.parts[0]!.envelope.id, decision, sink) : undefined
    for (let copy = 0; copy < copies; copy += 1) await sink.send({ ...message, text, final: false })
    await sink.send({ ...message, text })
  }

  async #takeDecided(frame: FrameText, sink: ServerLink, decision: Decision): Promise<void> {
    this.#tellOf(decision)
    if (decision.delayMs > 0) await sleep(decision.delayMs, this.#closing.signal)
    if (this.#closing.signal.aborted) return
    const { verdict, text = frame.text, copies, answers } = decision
    if (verdict === 'disconnect') return sink.cut?.()
    for (const answer of answers) await sink.send({ text: answer, final: true })
    if (verdict === 'drop') {
      if (answers.length > 0) return
      for (const { envelope } of frame.parts)
        if (envelope.kind === 'request') await withheld(envelope.id, decision, sink)
      return
    }
    for (let copy = 0; copy <= copies; copy += 1) this.#inner.take(text, this.#ruled(sink))
  }
}

/** Over HTTP, a request without a response would keep its connection open; the client gets an error instead. */
async function withheld(id: string | undefined, { rule }: Decision, sink: ServerLink): Promise<void> {
  if (!sink.refuse || id === undefined) return
  const message = JSON.stringify(`wiretape: dropped by rule ${rule}`)
  const error = `{"code":${internalError},"message":${message}}`
  await sink.send({ text: `{"jsonrpc":"2.0","id":${id},"error":${error}}`, final: true })
}
