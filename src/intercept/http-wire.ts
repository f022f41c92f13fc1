import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Direction, Transport } from '../model/index.js'
import { createSseParser, idKey } from '../wire/index.js'
import { GateFault } from './fault.js'
import { readParts, type FrameText, type Offer, type Verdict } from './frame.js'
import { frameOf, readSpoken, refusalsOf } from './http-frame.js'
import { agreeing, headerOf, headersFor, paramHeaders } from './http-headers.js'
import type { Intercept } from './intercept.js'
import type { Ledger } from './ledger.js'
import type { GatedWire, Injection } from './wire.js'

type RawHeaders = readonly string[]

interface Head {
  readonly exchange: number
  readonly connection: number
  readonly path: string
  readonly headers: RawHeaders
}

type Passing =
  | { readonly kind: 'forward'; readonly body?: Uint8Array; readonly headers?: RawHeaders }
  | { readonly kind: 'answer'; readonly status: number; readonly body?: Uint8Array; readonly why: string }
  | { readonly kind: 'disconnect'; readonly why: string }

interface EventPassage {
  forward(text?: string): void
  drop(): void
  send(text: string): void
  disconnect(why: string): void
}

interface Post {
  readonly connection: number
  readonly path: string
  readonly headers: RawHeaders
}

/** What an HTTP proxy shows, and what it can be told to do. */
export interface HttpLanes {
  setGatekeeper(keeper: HttpGatekeeper | undefined): void
  readonly posts: readonly Post[]
  readonly streams: readonly { readonly head: Head; inject(text: string): boolean }[]
  post(
    like: Post,
    headers: RawHeaders,
    body: Uint8Array,
    begins: (exchange: number) => void,
  ): Promise<{ readonly status: number; readonly contentType: string; readonly body: Uint8Array | undefined }>
}

export interface HttpGatekeeper {
  readonly active: boolean
  request(head: Head, body: Uint8Array): Promise<Passing> | undefined
  answer(head: Head, body: Uint8Array): Promise<Passing> | undefined
  event(head: Head, data: string, passage: EventPassage): boolean
  lost(exchange: number, why: string): void
}

const unsent = { sizeBytes: 0, endOffset: 0 }
/** Lets an HTTP proxy be gated: whole requests and answers, and events, are offered to the gate while it wants them. */
export function createHttpWire(
  lanes: HttpLanes,
  intercept: Intercept,
  ledger: Ledger,
  transport: Transport,
): GatedWire {
  let active = false
  const salt = randomBytes(16)

  /** Whose talk it is. A session id is a secret; its digest is a name. */
  function talkOf({ headers, connection }: Pick<Head, 'headers' | 'connection'>): string {
    const session = headerOf(headers, 'mcp-session-id')
    if (session === undefined) return `connection-${connection}`
    return `session-${createHash('sha256').update(salt).update(session).digest('hex').slice(0, 8)}`
  }

  function offer(head: Head, frame: FrameText, direction: Direction, passage: Offer['passage']): Verdict {
    const { exchange } = head
    const conversation = talkOf(head)
    return intercept.offer({
      ...frame,
      direction,
      transport,
      conversation,
      exchange,
      wallMs: Date.now(),
      passage,
    })
  }

  function judged(head: Head, direction: Direction, verdict: NonNullable<Verdict>): void {
    const { id, rule } = verdict
    const place = { exchange: head.exchange, direction }
    if (verdict.kind === 'hold') {
      ledger.enter({
        kind: 'verdict',
        place,
        id,
        verdict: { kind: 'hold', ...(rule !== undefined && { rule }) },
      })
      return
    }
    const { text } = verdict
    const pass = {
      kind: 'pass' as const,
      rule: verdict.rule,
      sizeBytes: 0,
      ...(text !== undefined && { text }),
    }
    ledger.enter({ kind: 'verdict', place, id, verdict: pass })
  }

  function released(
    id: string,
    { text, heldMs, rule }: { readonly text?: string; readonly heldMs: number; readonly rule?: string },
  ): void {
    ledger.enter({
      kind: 'release',
      id,
      sent: unsent,
      heldMs,
      ...(text !== undefined && { text }),
      ...(rule !== undefined && { rule }),
    })
  }

  function dropped(id: string, { why, rule }: { readonly why: string; readonly rule?: string }): void {
    ledger.enter({ kind: 'drop', id, why, ...(rule !== undefined && { rule }) })
  }

  /** Our own answers, on the tape as ours. */
  function answered(head: Head, texts: readonly string[], rule: string | undefined): Uint8Array {
    for (const text of texts) {
      ledger.enter({
        kind: 'inject',
        id: randomUUID(),
        direction: 'server_to_client',
        text,
        sent: unsent,
        exchange: head.exchange,
        ...(rule !== undefined && { rule }),
      })
    }
    return Buffer.from(texts.length === 1 ? texts[0]! : `[${texts.join(',')}]`)
  }

  const keeper: HttpGatekeeper = {
    get active() {
      return active
    },
    request(head, body) {
      const frame = frameOf(body)
      if (!frame) return undefined
      let settle: (how: Passing) => void = () => undefined
      const passing = new Promise<Passing>((resolve) => (settle = resolve))
      const changed = (text: string): Passing => {
        const bytes = Buffer.from(text)
        return {
          kind: 'forward',
          body: bytes,
          headers: agreeing(head.headers, frame, readParts(text), bytes.length),
        }
      }
      const repeat = (text: string, { copies = 0, rule }: { copies?: number; rule?: string }): void => {
        // After the request itself, which goes on when this is over.
        if (copies > 0) setImmediate(again, head, frame, { text, copies, rule })
      }
      const verdict = offer(head, frame, 'client_to_server', {
        forward(id, how) {
          released(id, how)
          settle(how.text === undefined ? { kind: 'forward' } : changed(how.text))
          repeat(how.text ?? frame.text, how)
        },
        drop(id, { why, rule, answers = [], disconnect = false }) {
          dropped(id, { why, ...(rule !== undefined && { rule }) })
          if (disconnect) return settle({ kind: 'disconnect', why })
          const texts = answers.length > 0 ? answers : refusalsOf(frame, 'requests', why)
          if (texts.length === 0) return settle({ kind: 'answer', status: 202, why })
          settle({ kind: 'answer', status: 200, body: answered(head, texts, rule), why })
        },
      })
      if (!verdict) return undefined
      judged(head, 'client_to_server', verdict)
      if (verdict.kind === 'hold') return passing
      repeat(verdict.text ?? frame.text, verdict)
      return Promise.resolve(verdict.text === undefined ? { kind: 'forward' } : changed(verdict.text))
    },
    answer(head, body) {
      const frame = frameOf(body)
      if (!frame) return undefined
      let settle: (how: Passing) => void = () => undefined
      const passing = new Promise<Passing>((resolve) => (settle = resolve))
      const verdict = offer(head, frame, 'server_to_client', {
        forward(id, how) {
          released(id, how)
          settle({ kind: 'forward', ...(how.text !== undefined && { body: Buffer.from(how.text) }) })
        },
        drop(id, { why, rule, disconnect = false }) {
          dropped(id, { why, ...(rule !== undefined && { rule }) })
          if (disconnect) return settle({ kind: 'disconnect', why })
          // An HTTP request has to be answered with something: its client would wait for ever.
          const texts = refusalsOf(frame, 'answers', why)
          if (texts.length === 0) settle({ kind: 'answer', status: 502, why })
          else settle({ kind: 'answer', status: 200, body: answered(head, texts, rule), why })
        },
      })
      if (!verdict) return undefined
      judged(head, 'server_to_client', verdict)
      if (verdict.kind === 'hold') return passing
      const { text } = verdict
      return Promise.resolve({ kind: 'forward', ...(text !== undefined && { body: Buffer.from(text) }) })
    },
    event(head, data, passage) {
      const frame = readSpoken(data)
      if (!frame) return false
      const repeat = (text: string, { copies = 0, rule }: { copies?: number; rule?: string }): void => {
        for (let n = 0; n < copies; n += 1) {
          ledger.enter({
            kind: 'inject',
            id: randomUUID(),
            direction: 'server_to_client',
            text,
            sent: unsent,
            exchange: head.exchange,
            ...(rule !== undefined && { rule }),
          })
          passage.send(text)
        }
      }
      const verdict = offer(head, frame, 'server_to_client', {
        forward(id, how) {
          released(id, how)
          passage.forward(how.text)
          repeat(how.text ?? frame.text, how)
        },
        drop(id, { why, rule, answers = [], disconnect = false }) {
          dropped(id, { why, ...(rule !== undefined && { rule }) })
          if (disconnect) return passage.disconnect(why)
          passage.drop()
          for (const text of answers) sendBack(head, text, rule)
        },
      })
      if (!verdict) return false
      judged(head, 'server_to_client', verdict)
      if (verdict.kind === 'hold') return true
      // What it becomes is written after the event was told.
      queueMicrotask(() => {
        passage.forward(verdict.text)
        repeat(verdict.text ?? frame.text, verdict)
        for (const text of verdict.answers) sendBack(head, text, verdict.rule)
      })
      return true
    },
    lost: (exchange, why) => intercept.exchangeLost(exchange, why),
  }

  /** What the client would have said to a server's request. */
  function sendBack(head: Head, text: string, rule: string | undefined): void {
    const like = lanes.posts.findLast((post) => talkOf(post) === talkOf(head))
    if (like)
      void post(like, { id: randomUUID(), text, ...(rule !== undefined && { rule }) }).catch(() => undefined)
  }

  /** Copies of a request, which differ from it in nothing. */
  function again(
    { connection, path, headers }: Head,
    { text: original }: FrameText,
    { text, copies, rule }: { text: string; copies: number; rule: string | undefined },
  ): void {
    for (let n = 0; n < copies; n += 1) {
      const copy = { id: randomUUID(), text, ...(rule !== undefined && { rule }) }
      const like = { text: original, headers }
      void post({ connection, path, headers }, { ...copy, like }).catch(() => undefined)
    }
  }

  /** @returns the answer, where the text is a request and one came */
  async function post(
    like: Post,
    { id, text, rule, like: original }: Pick<Injection, 'id' | 'text' | 'rule' | 'like'>,
  ): Promise<string | undefined> {
    const frame = readParts(text)
    const body = Buffer.from(text)
    const said = headersFor(like.headers, frame, body.length)
    if (original) said.push(...paramHeaders(original.headers, readParts(original.text), frame))
    const came = await lanes.post(like, said, body, (exchange) => {
      const place = { exchange, direction: 'client_to_server' as const }
      ledger.enter({
        kind: 'verdict',
        place,
        id,
        verdict: { kind: 'ours', ...(rule !== undefined && { rule }) },
      })
    })
    const wanted = frame.parts[0]!.envelope.id
    if (wanted === undefined || !came.body) return undefined
    const texts = /^text\/event-stream\b/i.test(came.contentType)
      ? createSseParser({ maxBytes: 64 * 1024 * 1024 })
          .push(Buffer.concat([came.body, Buffer.from('\n\n')]))
          .flatMap(({ data }) => data ?? [])
      : [Buffer.from(came.body).toString()]
    return texts.find((candidate) =>
      readSpoken(candidate)?.parts.some(
        ({ envelope }) =>
          (envelope.kind === 'result' || envelope.kind === 'error') &&
          envelope.id !== undefined &&
          idKey(envelope.id) === idKey(wanted),
      ),
    )
  }

  return {
    setGated(on) {
      active = on
      lanes.setGatekeeper(keeper)
    },
    conversationFor({ direction, conversation }) {
      const talks =
        direction === 'client_to_server'
          ? lanes.posts.map(talkOf)
          : lanes.streams.map(({ head }) => talkOf(head))
      return talks.findLast((talk) => conversation === undefined || conversation === talk)
    },
    inject(injection) {
      const { id, direction, text, conversation, rule } = injection
      if (direction === 'client_to_server') {
        const like = lanes.posts.findLast((one) => talkOf(one) === conversation)
        if (!like) throw new GateFault('no-peer', 'no client has said anything yet')
        const answer = post(like, injection).then(
          (came) => {
            if (came !== undefined) return came
            throw new GateFault('no-answer', 'the server answered without an answer')
          },
          (error: unknown) => {
            throw new GateFault('no-peer', error instanceof Error ? error.message : String(error))
          },
        )
        // Nobody may want it.
        answer.catch(() => undefined)
        return { answer }
      }
      const stream = lanes.streams.findLast(({ head }) => talkOf(head) === conversation)
      if (!stream?.inject(text)) {
        throw new GateFault(
          'no-peer',
          'no event stream to a client is open',
          'it opens one with GET, or with a request',
        )
      }
      const { exchange } = stream.head
      ledger.enter({
        kind: 'inject',
        id,
        direction,
        text,
        sent: unsent,
        exchange,
        ...(rule !== undefined && { rule }),
      })
      return {}
    },
  }
}
