import type { Direction, Transport } from '../model/index.js'
import type { Offer, Verdict } from './frame.js'
import type { HttpEntries } from './http-entries.js'
import { frameOf, readSpoken, refusalsOf, withAnswers } from './http-frame.js'
import { agreeing } from './http-headers.js'
import type { Head, HttpGatekeeper, HttpLanes, Side } from './http-lanes.js'
import type { HttpPosts } from './http-posts.js'
import type { Intercept } from './intercept.js'
import type { ToolHeaders } from './tool-headers.js'
import { whyUnread } from './unread.js'
import { readParts, type FrameText, type Passing } from '../wire/index.js'

export interface HttpKeeperScene {
  readonly intercept: Intercept
  readonly transport: Transport
  readonly talks: HttpLanes['talks']
  readonly entries: HttpEntries
  readonly posts: HttpPosts
  readonly tools: ToolHeaders
  isGated(): boolean
}

/** How a message is forwarded. */
interface Instead {
  readonly text?: string | undefined
  readonly kept?: readonly number[] | undefined
  readonly rule?: string | undefined
  readonly copies?: number
  readonly answers?: readonly string[]
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
  readonly #event: HttpGatekeeper['event'] = (head, data, passage) => {
    const frame = readSpoken(data)
    if (!frame) return false
    const send = (text: string, rule: string | undefined): void => {
      this.#entries.ours(head.exchange, text, rule)
      passage.send(text)
    }
    /** Sends additional messages to the client, or responses back to the server. */
    const follow = ({ text, kept, copies = 0, answers = [], rule }: Instead): void => {
      for (let n = 0; n < copies; n += 1) send(text ?? frame.text, rule)
      for (const refusal of missing(frame, text, 'answers', { kept })) send(refusal, rule)
      for (const back of answers) this.#posts.sendBack(head, back, rule)
    }
    const verdict = this.#offer(head, frame, 'server_to_client', {
      forward: (id, how) => {
        this.#entries.released(id, how)
        passage.forward(how.text)
        follow(how)
      },
      drop: (id, { why, rule, answers = [], disconnect = false }) => {
        this.#entries.dropped(id, { why, ...(rule !== undefined && { rule }) })
        if (disconnect) return passage.disconnect(why)
        passage.drop()
        for (const text of answers) this.#posts.sendBack(head, text, rule)
      },
    })
    if (!verdict) return false
    this.#entries.judged(head, 'server_to_client', verdict)
    if (verdict.kind === 'hold') return true
    // The replacement is written after the event is recorded.
    queueMicrotask(() => {
      passage.forward(verdict.text)
      follow(verdict)
    })
    return true
  }

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

  get event() {
    return this.#event
  }

  lost({ exchange }: Head, why: string): void {
    this.#left = exchange
    this.#intercept.exchangeLost(exchange, why)
    this.#left = undefined
  }

  #offer(head: Head, frame: FrameText, direction: Direction, passage: Offer['passage']): Verdict {
    return this.#intercept.offer({
      ...frame,
      direction,
      transport: this.#transport,
      conversation: head.conversation,
      exchange: head.exchange,
      wallMs: Date.now(),
      passage: {
        forward: (id, how) => {
          passage.forward(id, how)
          this.#makeRoom()
        },
        drop: (id, how) => {
          passage.drop(id, how)
          this.#makeRoom()
        },
      },
    })
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

  request(head: Head, body: Uint8Array): Promise<Passing> | undefined {
    const frame = frameOf(body)
    if (!frame) return this.#passed(head, 'request', body)
    let settle: (how: Passing | Promise<Passing>) => void = () => undefined
    const passing = new Promise<Passing>((resolve) => (settle = resolve))
    const forwarded = async ({ text, kept, rule, answers = [] }: Instead): Promise<Passing> => {
      if (text === undefined) return { kind: 'forward' }
      const bytes = Buffer.from(text)
      const after = readParts(text)
      const known = await this.#tools.known(frame, after)
      const back = [...answers, ...missing(frame, text, 'requests', { kept, answers })]
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
    const repeat = (text: string, { copies = 0, rule }: { copies?: number; rule?: string }): void => {
      if (copies > 0) setImmediate(() => this.#posts.repeat(head, frame, { text, copies, rule }))
    }
    const verdict = this.#offer(head, frame, 'client_to_server', {
      forward: (id, how) => {
        this.#entries.released(id, how)
        settle(forwarded(how))
        repeat(how.text ?? frame.text, how)
      },
      drop: (id, { why, rule, answers = [], disconnect = false }) => {
        this.#entries.dropped(id, { why, ...(rule !== undefined && { rule }) })
        if (disconnect || this.#left === head.exchange) return settle({ kind: 'disconnect', why })
        const texts = [...answers, ...refusalsOf(frame, 'requests', why, [answers])]
        if (texts.length === 0 || this.#answeredOnStream(head, texts, rule))
          return settle({ kind: 'answer', status: 202, why })
        settle({ kind: 'answer', status: 200, body: this.#answered(head, texts, rule), why })
      },
    })
    if (!verdict) return this.#passed(head, 'request', body, frame)
    this.#entries.judged(head, 'client_to_server', verdict)
    if (verdict.kind === 'hold') return passing
    repeat(verdict.text ?? frame.text, verdict)
    return forwarded(verdict)
  }

  answer(head: Head, body: Uint8Array): Promise<Passing> | undefined {
    const frame = frameOf(body)
    if (!frame) return this.#passed(head, 'answer', body)
    let settle: (how: Passing) => void = () => undefined
    const passing = new Promise<Passing>((resolve) => (settle = resolve))
    const forwarded = ({ text, kept, rule }: Instead): Passing => {
      if (text === undefined) return { kind: 'forward' }
      const lost = missing(frame, text, 'answers', { kept })
      if (lost.length > 0) queueMicrotask(() => void this.#answered(head, lost, rule))
      return { kind: 'forward', body: Buffer.from(withAnswers(text, lost)) }
    }
    const verdict = this.#offer(head, frame, 'server_to_client', {
      forward: (id, how) => {
        this.#entries.released(id, how)
        settle(forwarded(how))
      },
      drop: (id, { why, rule, text, disconnect = false }) => {
        this.#entries.dropped(id, { why, ...(rule !== undefined && { rule }) })
        if (disconnect || this.#left === head.exchange) return settle({ kind: 'disconnect', why })
        // An HTTP request needs a response: its client would wait for ever.
        const texts = refusalsOf(text === undefined ? frame : readParts(text), 'answers', why)
        if (texts.length === 0) settle({ kind: 'answer', status: 502, why })
        else settle({ kind: 'answer', status: 200, body: this.#answered(head, texts, rule), why })
      },
    })
    if (!verdict) return this.#passed(head, 'answer', body, frame)
    this.#entries.judged(head, 'server_to_client', verdict)
    return verdict.kind === 'hold' ? passing : Promise.resolve(forwarded(verdict))
  }
}

/** Error responses for elements that a batch has lost. */
function missing(
  frame: FrameText,
  text: string | undefined,
  of: 'requests' | 'answers',
  { kept, answers = [] }: Pick<Instead, 'kept' | 'answers'>,
): string[] {
  if (!frame.batch || text === undefined) return []
  const why = 'it was removed from its batch'
  if (!kept) {
    const after = readParts(text)
    return after.parts.length === frame.parts.length ? [] : refusalsOf(frame, of, why, [after, answers])
  }
  const left = new Set(kept)
  const lost = { ...frame, parts: frame.parts.filter((_, i) => !left.has(i)) }
  return refusalsOf(lost, of, why, [answers])
}
