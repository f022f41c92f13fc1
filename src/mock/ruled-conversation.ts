import { liveSubject, type Asked, type RuleDecision, type Rules } from '../intercept/index.js'
import { createRecent, isAnswer, type Direction, type Transport } from '../model/index.js'
import { idKey, isFault, readEnvelope, readMessages, readParts } from '../wire/index.js'
import { internalError, reasonOf } from './fault.js'
import type { Conversation } from './conversation.js'
import type { ServerMessage, ServerLink } from '../link/index.js'
import { sleep } from './pace.js'

export interface RuledOptions {
  /** The rules in force. */
  readonly rules: () => Rules
  readonly transport: Transport
  readonly notice: (line: string) => void
}

/** Number of requests remembered, so that rules on responses know their subject. */
const rememberedRequests = 10_000

/**
 * A conversation with rules between it and its client. Rules see every message of either side once, when it comes,
 * and can change, delay, drop, double or answer it.
 */
export function openRuled(
  open: (standalone: ServerLink) => Conversation,
  standalone: ServerLink,
  options: RuledOptions,
): Conversation {
  const { notice } = options
  const asked = createRecent<Asked>({ entries: rememberedRequests })
  const sinks = new WeakMap<ServerLink, ServerLink>()
  const running = new Set<Promise<void>>()
  const closing = new AbortController()
  let toldOfHold = false

  function run(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) => notice(`the rules could not be applied: ${reasonOf(error)}`))
      .finally(() => running.delete(tracked))
    running.add(tracked)
  }

  function decide(text: string, direction: Direction): RuleDecision | undefined {
    const frame = readParts(text)
    const offer = { ...frame, direction, transport: options.transport, conversation: '', wallMs: Date.now() }
    return options.rules().decide({
      raw: text,
      batch: frame.batch,
      parts: frame.parts.map((part) => ({
        start: part.start,
        end: part.end,
        subject: liveSubject(offer, part, askedBy(part.envelope, direction)),
      })),
    })
  }

  /** The subject of a request, for the rules on its response. */
  function askedBy(envelope: ReturnType<typeof readEnvelope>, direction: Direction): Asked | undefined {
    if (envelope.id === undefined) return undefined
    const isReply = isAnswer(envelope)
    const asker = (direction === 'client_to_server') === isReply ? '<' : '>'
    const key = asker + idKey(envelope.id)
    if (isReply) return asked.get(key)
    asked.set(key, { method: envelope.method ?? null, name: envelope.subject ?? null })
    return undefined
  }

  function tellOf({ verdict, problem, rule }: RuleDecision): void {
    if (problem !== undefined) notice(problem)
    if (verdict !== 'hold' || toldOfHold) return
    toldOfHold = true
    notice(`rule ${rule} holds messages for a person; a mock cannot hold messages and delivers them`)
  }

  function ruled(sink: ServerLink): ServerLink {
    const known = sinks.get(sink)
    if (known) return known
    const outer: ServerLink = {
      get isOpen() {
        return sink.isOpen
      },
      send: (message) => send(message, sink),
      ...(sink.refuse && { refuse: (refusal) => sink.refuse!(refusal) }),
      ...(sink.inOnePiece && { inOnePiece: () => sink.inOnePiece!() }),
      ...(sink.cut && { cut: () => sink.cut!() }),
    }
    sinks.set(sink, outer)
    return outer
  }

  async function send(message: ServerMessage, sink: ServerLink): Promise<void> {
    const decision = message.noise ? undefined : decide(message.text, 'server_to_client')
    if (!decision) return sink.send(message)
    tellOf(decision)
    if (decision.delayMs > 0) await sleep(decision.delayMs, closing.signal)
    if (closing.signal.aborted) return
    const { verdict, text = message.text, copies, answers } = decision
    if (verdict === 'disconnect') return sink.cut?.()
    // A request of the server that a rule answers never reaches the client.
    for (const answer of answers) inner.take(answer)
    if (verdict === 'answer' || verdict === 'drop') {
      return message.final ? withheld(readEnvelope(message.text, 0).id, decision, sink) : undefined
    }
    for (let copy = 0; copy < copies; copy += 1) await sink.send({ ...message, text, final: false })
    await sink.send({ ...message, text })
  }

  /** Over HTTP, a request without a response would keep its connection open; the client gets an error instead. */
  async function withheld(id: string | undefined, { rule }: RuleDecision, sink: ServerLink): Promise<void> {
    if (!sink.refuse || id === undefined) return
    const message = JSON.stringify(`wiretape: dropped by rule ${rule}`)
    const error = `{"code":${internalError},"message":${message}}`
    await sink.send({ text: `{"jsonrpc":"2.0","id":${id},"error":${error}}`, final: true })
  }

  async function takeDecided(text: string, sink: ServerLink, decision: RuleDecision): Promise<void> {
    tellOf(decision)
    if (decision.delayMs > 0) await sleep(decision.delayMs, closing.signal)
    if (closing.signal.aborted) return
    const { verdict, text: changed = text, copies, answers } = decision
    if (verdict === 'disconnect') return sink.cut?.()
    for (const answer of answers) await sink.send({ text: answer, final: true })
    if (verdict === 'answer') return
    if (verdict === 'drop') {
      for (const { envelope } of readParts(text).parts)
        if (envelope.kind === 'request') await withheld(envelope.id, decision, sink)
      return
    }
    for (let copy = 0; copy <= copies; copy += 1) inner.take(changed, ruled(sink))
  }

  const inner = open(ruled(standalone))
  return {
    ...inner,
    take(text, sink = standalone) {
      const frame = readMessages(text)
      if (isFault(frame)) return false
      const raw = frame.text
      const decision = decide(raw, 'client_to_server')
      if (!decision) return inner.take(raw, ruled(sink))
      run(takeDecided(raw, sink, decision))
      return true
    },
    async end() {
      while (running.size > 0) await Promise.all(running)
      await inner.end()
    },
    async close() {
      closing.abort()
      await Promise.all(running)
      await inner.close()
    },
  }
}
