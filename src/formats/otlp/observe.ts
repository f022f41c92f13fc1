import {
  createOrigins,
  createRecent,
  type MessageRecord,
  type MetaRecord,
  type Origin,
} from '../../model/index.js'
import type { Recording } from '../format.js'
import { headerOf } from '../http-transcript/headers.js'
import type { Losses } from '../losses.js'
import { tellRecords, type Told, type ToldMessage } from '../told/told.js'
import { operationOf, outcomeOf, wayOf, type Operation, type Outcome, type Way } from './describe.js'
import type { DurationMetric, Measure } from './meter.js'
import { createPayloads, type Payloads } from './payloads.js'
import { createSessions } from './sessions.js'
import { boundedText, type Attributes, type Span, type TraceParent } from './telemetry.js'
import { hexId, parentOf } from './trace-context.js'
import type { Observed } from './observed.js'

export interface ObserveOptions {
  /** Include payloads of requests and responses in spans. @default false */
  readonly payloads?: boolean
  /** Maximum number of open requests; beyond that, the oldest end unanswered. @default 100,000 */
  readonly mostOpen?: number
}

/** Data of a request that its span needs once it is answered. */
interface Draft {
  readonly seq: number
  readonly id: string | undefined
  readonly startNs: bigint
  /** Time of forwarding. */
  readonly passedNs: bigint
  readonly traceId: string
  readonly parent: TraceParent | undefined
  readonly kind: Span['kind']
  readonly method: string | undefined
  readonly operation: Operation
  readonly way: Way
  readonly attributes: Attributes
  readonly payload: Attributes
}

const usualMostOpen = 100_000

const unanswered: Outcome = { attributes: [['wiretape.unanswered', true]] }
const cancelled: Outcome = { attributes: [['wiretape.cancelled', true]] }

/**
 * A span for each request with its response, and for each notification; one trace per conversation, or the trace of the
 * message's `_meta.traceparent`. The view is the server's: it serves the client's requests, and is the client for its
 * own. The recorder knows when each side has a message, so each request is measured both as its sender and as its
 * receiver saw it.
 *
 * @param meta first record of the recording, if known before reading
 * @param losses receives data that a span cannot hold
 */
export async function* observe(
  recording: Recording,
  meta: MetaRecord | undefined,
  losses: Losses,
  options: ObserveOptions = {},
): AsyncGenerator<Observed, void, undefined> {
  let observer = meta && createObserver(meta, losses, options)
  for await (const told of tellRecords(recording)) {
    observer ??= createObserver(told.record.type === 'meta' ? told.record : undefined, losses, options)
    yield* observer.see(told)
  }
  if (observer) yield* observer.end()
}

function createObserver(
  meta: MetaRecord | undefined,
  losses: Losses,
  options: ObserveOptions,
): { see(told: Told): Generator<Observed>; end(): Generator<Observed> } {
  return new SpanObserver(meta, losses, options)
}

class SpanObserver {
  readonly #losses: Losses
  readonly #mostOpen
  readonly #open = new Map<number, Draft>()
  /** Numbers of open requests, by the names that links use. */
  readonly #numbers = new Map<string, number>()
  readonly #session
  readonly #startNs
  readonly #transport
  readonly #url
  readonly #isOwn: boolean
  readonly #metadata
  readonly #originOf
  readonly #ways = new Map<Origin, Way>()
  readonly #sessionIds = createSessionIds()
  readonly #versions = createRecent<string>({ entries: 10_000 })
  readonly #sessions = createSessions()
  readonly #payload: Payloads | undefined
  readonly #nsOf = (us: number): bigint => this.#startNs + BigInt(Math.max(0, Math.round(us))) * 1000n

  constructor(
    meta: MetaRecord | undefined,
    losses: Losses,
    { payloads = false, mostOpen = usualMostOpen }: ObserveOptions,
  ) {
    this.#losses = losses
    this.#mostOpen = mostOpen
    this.#session = meta?.wiretape?.session ?? meta?.label ?? ''
    this.#startNs = BigInt(Math.max(0, Date.parse(meta?.startedAt ?? '') || 0)) * 1_000_000n
    const { transport = 'stdio', url = null, metadata = [] } = meta?.wiretape ?? {}
    this.#transport = transport
    this.#url = url
    this.#isOwn = (meta?.wiretape?.version ?? '') !== ''
    this.#metadata = metadata
    this.#originOf = createOrigins({ transport: this.#transport, url: this.#url, metadata: this.#metadata })
    this.#payload = payloads ? createPayloads((what) => this.#losses.add(what)) : undefined
  }

  *end() {
    for (const draft of this.#open.values()) yield this.#close(draft, draft.passedNs, unanswered)
    yield* this.#sessions.end()
  }

  *see(told: Told): Generator<Observed> {
    if (told.kind !== 'message') {
      this.#losses.record(told.record)
      yield* this.#sessions.seeOther(told)
      return
    }
    const { part, record, us = 0 } = told
    const { envelope } = part
    const { conversation = '' } = record
    const version =
      envelope.protocolVersion ??
      this.#versions.get(conversation) ??
      headerOf(record.http?.headers, 'MCP-Protocol-Version')
    if (version !== undefined) this.#versions.set(conversation, version)
    const way = this.#wayFor(conversation)
    this.#sessionIds.see(record)
    this.#noteLosses(told)
    yield* this.#sessions.see(told, way, version)
    const passedUs = us + (record.heldMs ?? 0) * 1000
    if (envelope.kind === 'request' || envelope.kind === 'notification') {
      const draft = this.#draftOf(told, passedUs, way, version)
      for (const { kind, to } of part.links ?? []) if (kind === 'cancel') yield* this.#cancel(to, passedUs)
      if (envelope.kind === 'notification') {
        yield { span: this.#spanOf(draft, this.#nsOf(passedUs), { attributes: [] }), measures: [] }
        if (this.#payload) this.#payload.release(draft.payload)
        return
      }
      this.#open.set(draft.seq, draft)
      if (part.id !== undefined) this.#numbers.set(part.id, draft.seq)
      if (this.#open.size > this.#mostOpen)
        for (const oldest of this.#open.values())
          return yield this.#close(oldest, oldest.passedNs, unanswered)
      return
    }
    const draft = told.request && this.#open.get(told.request.seq)
    if (!draft) return this.#losses.add('unmatched responses and messages that are not JSON-RPC are left out')
    const outcome = outcomeOf(told)
    const answer = this.#payload?.answered(told, draft.method) ?? []
    const span = this.#close(draft, this.#nsOf(passedUs), {
      ...outcome,
      attributes: [...outcome.attributes, ...answer],
    })
    // Waiting time of the sender, and processing time of the receiver: they differ by the time messages were held.
    const waited = Number(this.#nsOf(passedUs) - draft.startNs) / 1e9
    const took = record.injected ? undefined : Number(this.#nsOf(us) - draft.passedNs) / 1e9
    yield { ...span, measures: told.us === undefined ? [] : measuresOf(draft, outcome, waited, took) }
  }

  *#cancel(id: string, us: number): Generator<Observed> {
    const seq = this.#numbers.get(id)
    const draft = seq === undefined ? undefined : this.#open.get(seq)
    if (draft) yield this.#close(draft, this.#nsOf(us), cancelled)
  }

  #close(draft: Draft, endNs: bigint, outcome: Outcome): Observed {
    this.#open.delete(draft.seq)
    if (draft.id !== undefined) this.#numbers.delete(draft.id)
    this.#payload?.release(draft.payload)
    return { span: this.#spanOf(draft, endNs, outcome), measures: [] }
  }

  #noteLosses({ part, record, us }: ToldMessage): void {
    if (!this.#payload) this.#losses.add('payloads are left out')
    if (us === undefined) this.#losses.add('unknown times are written as 0')
    if (part !== record.parts[0]) return
    if (record.batch) this.#losses.add('batches are written message by message')
    this.#losses.marks(record)
    this.#losses.links(record)
  }

  #wayFor(conversation: string): Way {
    const origin = this.#originOf(conversation)
    const known = this.#ways.get(origin)
    if (known) return known
    const way = wayOf(origin, this.#isOwn)
    this.#ways.set(origin, way)
    return way
  }

  #draftOf(told: ToldMessage, passedUs: number, way: Way, version: string | undefined): Draft {
    const { record, seq, us = 0, text, part } = told
    const { conversation } = record
    const operation = operationOf(told, version)
    const parent = parentOf(text)
    const sessionId = this.#sessionIds.of(record)
    return {
      seq,
      id: part.id,
      startNs: this.#nsOf(us),
      passedNs: this.#nsOf(passedUs),
      traceId: parent?.traceId ?? hexId(JSON.stringify(['trace', this.#session, conversation ?? '']), 16),
      parent,
      kind: record.direction === 'client_to_server' ? 'server' : 'client',
      method: part.envelope.method,
      operation,
      way,
      attributes: [
        ...operation.common,
        ...way.network,
        ...way.server,
        ...operation.own,
        ...(sessionId === undefined ? [] : [['mcp.session.id', boundedText(sessionId)] as const]),
        // The session id may be redacted; the recording names the conversation nevertheless.
        ...(conversation === undefined
          ? []
          : [['wiretape.conversation', boundedText(conversation)] as const]),
        ...(record.heldMs === undefined ? [] : [['wiretape.held_ms', Math.round(record.heldMs)] as const]),
      ],
      payload: this.#payload?.asked(told) ?? [],
    }
  }

  #spanOf(draft: Draft, endNs: bigint, outcome: Outcome): Span {
    const { seq, traceId, parent, operation, kind, attributes, payload: asked } = draft
    const { error } = outcome
    return {
      traceId,
      spanId: hexId(JSON.stringify(['span', this.#session, seq]), 8),
      ...(parent && { parent }),
      name: operation.name,
      kind,
      startNs: draft.startNs,
      endNs: endNs < draft.startNs ? draft.startNs : endNs,
      attributes: [...attributes, ...asked, ...outcome.attributes],
      ...(error !== undefined && { error }),
    }
  }
}

/** @param took undefined when the receiver did not answer itself */
function measuresOf(
  { operation, way }: Draft,
  outcome: Outcome,
  waited: number,
  took: number | undefined,
): Measure[] {
  const attributes = [...operation.common, ...way.network, ...outcome.attributes]
  const measure = (metric: DurationMetric, seconds: number, more: Attributes): Measure => ({
    metric,
    seconds: Math.max(0, seconds),
    attributes: [...attributes, ...more],
  })
  return [
    measure('mcp.client.operation.duration', waited, way.server),
    ...(took === undefined ? [] : [measure('mcp.server.operation.duration', took, [])]),
  ]
}

/** Session ids of conversations, from headers; redaction usually removes them. */
function createSessionIds(): {
  see(record: MessageRecord): void
  of(record: MessageRecord): string | undefined
} {
  const ids = createRecent<string>({ entries: 10_000 })
  return {
    see({ http, conversation = '' }) {
      const id = headerOf(http?.headers, 'Mcp-Session-Id')
      if (id !== undefined && !id.includes('[REDACTED]')) ids.set(conversation, id)
    },
    of: ({ conversation = '' }) => ids.get(conversation),
  }
}
