import type { Direction, Transport } from '../model/index.js'
import type { Decision } from './decision.js'
import type { Judgement } from './frame.js'
import type { HttpEntries } from './http-entries.js'
import { frameOf, readSpoken, refusalsOf, withAnswers } from './http-frame.js'
import { agreeing } from './http-headers.js'
import type { Head, HttpGatekeeper, HttpLanes, Side } from './http-lanes.js'
import type { HttpPosts } from './http-posts.js'
import type { Intercept } from './intercept.js'
import type { ToolHeaders } from './tool-headers.js'
import { whyUnread } from './unread.js'
import { readParts, type EventPassage, type FrameText, type Passing } from '../wire/index.js'

export interface HttpKeeperScene {
  readonly intercept: Intercept
  readonly transport: Transport
  readonly talks: HttpLanes['talks']
  readonly entries: HttpEntries
  readonly posts: HttpPosts
  readonly tools: ToolHeaders
  isGated(): boolean
}

/** Offers HTTP traffic to the gate, and applies the gate's decisions to the proxy. */
export function createHttpKeeper(scene: HttpKeeperScene): HttpGatekeeper {
  return new GateKeeper(scene)
}

class GateKeeper {
  readonly #scene: HttpKeeperScene
  readonly #intercept
  readonly #transport
  readonly #talks
  readonly #entries
  readonly #posts
  readonly #tools
  /** Readers paused because too much is held. */
  #waiting: (() => void)[] = []
  /** HTTP exchange of a client that disconnected: a response cannot be delivered. */
  #left: number | undefined
  constructor(scene: HttpKeeperScene) {
    this.#scene = scene
    const { intercept, transport, talks, entries, posts, tools } = scene
    this.#intercept = intercept
    this.#transport = transport
    this.#talks = talks
    this.#entries = entries
    this.#posts = posts
    this.#tools = tools
  }

  wants(): boolean {
    return this.#scene.isGated()
  }

  mustWait(_: Head, goOn: () => void): boolean {
    if (!this.#intercept.isFull) return false
    this.#waiting.push(goOn)
    return true
  }

  event(head: Head, data: string, passage: EventPassage): boolean {
    const frame = readSpoken(data)
    if (!frame) return false
    const send = (text: string, rule: string | undefined): void => {
      this.#entries.ours(head.exchange, text, rule)
      passage.send(text)
    }
    /** Sends additional messages to the client, or responses back to the server. */
    const follow = (decision: Decision): void => {
      const { text, copies, answers, rule } = decision
      for (let n = 0; n < copies; n += 1) send(text ?? frame.text, rule)
      for (const refusal of missing(frame, decision, 'answers')) send(refusal, rule)
      for (const back of answers) this.#posts.sendBack(head, back, rule)
    }
    const judgement = this.#offer(head, frame, 'server_to_client', (decision) => {
      if (decision.verdict === 'disconnect') return passage.disconnect(decision.why ?? '')
      if (decision.verdict === 'forward') passage.forward(decision.text)
      else passage.drop()
      follow(decision)
    })
    if (!judgement) return false
    if (judgement.verdict === 'hold') return true
    // The replacement is written after the event is recorded.
    queueMicrotask(() => {
      passage.forward(judgement.text)
      follow(judgement)
    })
    return true
  }

  lost({ exchange }: Head, why: string): void {
    this.#left = exchange
    this.#intercept.exchangeLost(exchange, why)
    this.#left = undefined
  }

  /** @param settled carries out the decision about a held frame, after it was recorded */
  #offer(
    head: Head,
    frame: FrameText,
    direction: Direction,
    settled: (decision: Decision) => void,
  ): Judgement {
    const { exchange, conversation } = head
    const judgement = this.#intercept.offer({
      ...frame,
      direction,
      transport: this.#transport,
      conversation,
      exchange,
      wallMs: Date.now(),
      settle: (id, decision, heldMs) => {
        this.#entries.settled(id, decision, heldMs)
        settled(decision)
        this.#makeRoom()
      },
    })
    if (judgement) this.#entries.judged(head, direction, judgement)
    return judgement
  }

  #makeRoom(): void {
    if (this.#waiting.length === 0 || this.#intercept.isFull) return
    const all = this.#waiting
    this.#waiting = []
    for (const goOn of all) goOn()
  }

  /** Sends our responses on the stream for all responses. False if there is none: use the HTTP response. */
  #answeredOnStream(head: Head, texts: readonly string[], rule: string | undefined): boolean {
    const { conversation } = head
    const stream = this.#talks
      .streams()
      .findLast((one) => one.isLegacy && one.head.conversation === conversation)
    if (!stream) return false
    for (const text of texts) if (stream.inject(text)) this.#entries.ours(stream.head.exchange, text, rule)
    return true
  }

  /** Body of our own responses; recorded as injected. */
  #answered(head: Head, texts: readonly string[], rule: string | undefined): Uint8Array {
    for (const text of texts) this.#entries.ours(head.exchange, text, rule)
    return Buffer.from(texts.length === 1 ? texts[0]! : `[${texts.join(',')}]`)
  }

  unseen({ exchange }: Pick<Head, 'exchange'>, side: Side, why: string): void {
    const what = side === 'request' ? 'a request' : 'a response'
    const sentence = `${what} was forwarded without being held or changed: ${why} cannot be inspected (exchange ${exchange})`
    this.#entries.note(sentence)
    this.#intercept.unseen(sentence)
  }

  /** Reports a body that is forwarded uninspected. */
  #passed(head: Head, side: Side, body: Uint8Array, frame?: FrameText): undefined {
    const why = whyUnread(body, frame)
    if (why !== undefined) this.unseen(head, side, why)
  }

  /** @param pass carries out a decision */
  #whole(
    head: Head,
    side: Side,
    body: Uint8Array,
    pass: (frame: FrameText, decision: Decision) => Passing | Promise<Passing>,
  ): Promise<Passing> | undefined {
    const frame = frameOf(body)
    if (!frame) return this.#passed(head, side, body)
    let settle: (how: Passing | Promise<Passing>) => void = () => undefined
    const passing = new Promise<Passing>((resolve) => (settle = resolve))
    const direction = side === 'request' ? 'client_to_server' : 'server_to_client'
    const judgement = this.#offer(head, frame, direction, (decision) =>
      settle(
        decision.verdict === 'disconnect' || (decision.verdict === 'drop' && this.#left === head.exchange)
          ? { kind: 'disconnect', why: decision.why ?? '' }
          : pass(frame, decision),
      ),
    )
    if (!judgement) return this.#passed(head, side, body, frame)
    return judgement.verdict === 'hold' ? passing : Promise.resolve(pass(frame, judgement))
  }

  request(head: Head, body: Uint8Array): Promise<Passing> | undefined {
    return this.#whole(head, 'request', body, (frame, decision) => {
      const { verdict, text = frame.text, copies, rule, answers, why = '' } = decision
      if (verdict === 'forward') {
        if (copies > 0) setImmediate(() => this.#posts.repeat(head, frame, { text, copies, rule }))
        return this.#forwardRequest(head, frame, decision)
      }
      const texts = [...answers, ...refusalsOf(frame, 'requests', why, [answers])]
      if (texts.length === 0 || this.#answeredOnStream(head, texts, rule))
        return { kind: 'answer', status: 202, why }
      return { kind: 'answer', status: 200, body: this.#answered(head, texts, rule), why }
    })
  }

  async #forwardRequest(head: Head, frame: FrameText, decision: Decision): Promise<Passing> {
    const { text, rule, answers } = decision
    if (text === undefined) return { kind: 'forward' }
    const bytes = Buffer.from(text)
    const after = readParts(text)
    const known = await this.#tools.known(frame, after)
    const back = [...answers, ...missing(frame, decision, 'requests')]
    const onStream = back.length > 0 && this.#talks.streams().some(({ isLegacy }) => isLegacy)
    // After the request itself, which is forwarded when this function returns.
    if (back.length > 0)
      setImmediate(
        () =>
          void ((onStream && this.#answeredOnStream(head, back, rule)) || this.#answered(head, back, rule)),
      )
    return {
      kind: 'forward',
      body: bytes,
      headers: agreeing(head.headers, frame, after, bytes.length, known),
      ...(back.length > 0 && !onStream && { answers: back }),
    }
  }

  answer(head: Head, body: Uint8Array): Promise<Passing> | undefined {
    return this.#whole(head, 'answer', body, (frame, decision) => {
      const { verdict, text, rule, why = '' } = decision
      if (verdict === 'forward') {
        if (text === undefined) return { kind: 'forward' }
        const lost = missing(frame, decision, 'answers')
        if (lost.length > 0) queueMicrotask(() => void this.#answered(head, lost, rule))
        return { kind: 'forward', body: Buffer.from(withAnswers(text, lost)) }
      }
      // An HTTP request needs a response: its client would wait for ever.
      const texts = refusalsOf(text === undefined ? frame : readParts(text), 'answers', why)
      if (texts.length === 0) return { kind: 'answer', status: 502, why }
      return { kind: 'answer', status: 200, body: this.#answered(head, texts, rule), why }
    })
  }
}

/** Error responses for elements that a batch has lost. */
function missing(frame: FrameText, { text, kept, answers }: Decision, of: 'requests' | 'answers'): string[] {
  // A rule's responses to requests.
  const sent = of === 'requests' ? answers : []
  if (!frame.batch || text === undefined) return []
  const why = 'it was removed from its batch'
  if (!kept) {
    const after = readParts(text)
    return after.parts.length === frame.parts.length ? [] : refusalsOf(frame, of, why, [after, sent])
  }
  const left = new Set(kept)
  const lost = { ...frame, parts: frame.parts.filter((_, i) => !left.has(i)) }
  return refusalsOf(lost, of, why, [sent])
}
