import {
  IdTable,
  isEndpointEvent,
  type Envelope,
  type HttpHeaders,
  type EndRecord,
  type HttpRecord,
  type MessageRecord,
  type NoiseRecord,
  type Part,
  type RedactionMark,
  type TapeRecord,
  type Transport,
} from '../model/index.js'
import { adopt, type Recording } from '../formats/index.js'
import { createHeaderWitness } from './header-witness.js'
import { acceptsBoth, isJsonType } from '../link/index.js'
import { createCallIndex, type CallIndexWriter } from './call-index.js'
import { clientView } from './client-view.js'
import type { Play, RecordedDeath } from './play.js'
import { createRecordedConversations, type RecordedConversation } from './recorded-conversations.js'
import { createScript, noRow, type NewRow, type RecordedWay, type ScriptWriter } from './script.js'
import { createTextStore } from '../tape/index.js'

/** Number of HTTP exchanges that are remembered while a recording is read. */
const rememberedExchanges = 10_000
interface Exchange {
  readonly conversation: RecordedConversation
  /** The request in the exchange, or `noRow`. */
  readonly call: number
  readonly modern: boolean
  /** Its headers contradict its body, or are missing. */
  readonly hasHeaderFault: boolean
}

/** Reads a recording once. @throws errors of its reader, and WiretapeError `unwritable` of the text store */
export async function readPlay(recording: Recording): Promise<Play> {
  const texts = createTextStore()
  try {
    const reading = createReading(createScript(texts))
    for await (const record of clientView(adopt(recording).records())) reading.take(record)
    return { ...reading.done(), close: () => texts.close() }
  } catch (error) {
    texts.close()
    throw error
  }
}

function createReading(script: ScriptWriter): {
  take(record: TapeRecord): void
  done(): Omit<Play, 'close'>
} {
  return new PlayReader(script)
}

class PlayReader {
  readonly #script: ScriptWriter
  readonly #calls: CallIndexWriter = createCallIndex()
  readonly #conversations = createRecordedConversations()
  readonly #exchanges = new Map<number, Exchange>()
  readonly #saidTags = new Set<string>()
  readonly #counts = { client: 0, server: 0 }
  #ids = new IdTable()
  #session = 0
  #sessionId: string | undefined
  #startedMs = NaN
  #nextNumber = 0
  #transport: Transport = 'stdio'
  #url: string | null = null
  #sessions: boolean | undefined
  #noStream: boolean | undefined
  #server: Envelope['peer']
  readonly #versions = new Set<string>()
  readonly #notices = new Set<string>()
  #legacy = false
  #modern = false
  readonly #witness = createHeaderWitness()
  #death: RecordedDeath | undefined
  readonly #lenient = { accept: false, contentType: false }

  constructor(script: ScriptWriter) {
    this.#script = script
  }

  take(record: TapeRecord): void {
    if (record.type === 'message') this.#takeMessage(record)
    else if (record.type === 'noise') this.#takeNoise(record)
    else if (record.type === 'http') this.#takeHttp(record)
    else if (record.type === 'end') this.#takeEnd(record)
    else if (record.type === 'meta') {
      const identity = record.wiretape
      if (identity?.session !== undefined && identity.session === this.#sessionId) return
      this.#sessionId = identity?.session
      this.#session += 1
      this.#conversations.nextSession()
      this.#ids = new IdTable()
      this.#exchanges.clear()
      this.#nextNumber = 0
      this.#startedMs = Date.parse(record.startedAt)
      this.#transport = identity?.transport ?? this.#transport
      this.#url ??= identity?.url ?? null
    }
  }

  done() {
    // Freed here; otherwise it would live as long as the play.
    this.#ids = new IdTable()
    this.#exchanges.clear()
    return {
      script: this.#script,
      calls: this.#calls,
      openings: this.#conversations.openings(),
      transport: this.#transport,
      url: this.#url,
      sessions: this.#sessions,
      opened: this.#conversations.hasOpened(),
      noStream: this.#noStream === true,
      legacy: this.#legacy,
      modern: this.#modern,
      lenient: this.#lenient,
      mirrored: this.#witness.rules(),
      death: this.#death,
      saidTags: this.#saidTags,
      conversationName: (number: number) => this.#conversations.byNumber(number)?.name || undefined,
      seen: { server: this.#server, versions: [...this.#versions], notices: [...this.#notices] },
      counts: { ...this.#counts, sessions: this.#session },
    }
  }

  #usOf(record: { readonly t: string; readonly us?: number }): number {
    if (record.us !== undefined) return record.us
    const us = (Date.parse(record.t) - this.#startedMs) * 1000
    return Number.isFinite(us) ? us : 0
  }

  #takeMessage(record: MessageRecord): void {
    for (const [i, part] of record.parts.entries()) {
      const number = record.seq === undefined ? this.#nextNumber : record.seq + i
      this.#nextNumber = number + 1
      const marks = marksOf(record, i)
      const row = {
        text: record.batch ? record.raw.slice(part.start, part.end) : record.raw,
        number,
        us: this.#usOf(record),
        ...(marks.length > 0 && { marks }),
      }
      if (record.direction === 'client_to_server') this.#takeClient(record, part, row)
      else this.#takeServer(record, part, row)
    }
  }

  #takeClient(record: MessageRecord, part: Part, said: Omit<NewRow, 'kind' | 'conversation'>): void {
    const { envelope } = part
    if (envelope.kind === 'invalid') return
    this.#counts.client += 1
    for (const { tag } of said.marks ?? []) this.#saidTags.add(tag)
    const conversation = this.#conversations.ofClient(record, envelope)
    const kind = envelope.kind === 'request' ? 'call' : envelope.kind === 'notification' ? 'note' : 'reply'
    const row = this.#script.add({ ...said, kind, conversation: conversation.number })
    if (part.id !== undefined) this.#ids.set(part.id, row)
    if (record.http?.headers) this.#noteHeaders(record.http.headers, envelope)
    const { modern: isModern = false } = envelope
    if (record.http)
      this.#remember(record.http.exchange, {
        conversation,
        call: kind === 'call' ? row : noRow,
        modern: isModern,
        hasHeaderFault: isModern && this.#witness.asked(record.http.headers ?? [], said.text, envelope),
      })
    if (kind === 'call') this.#takeCall(conversation, row, part, said.text)
    else if (kind === 'note') this.#takeNote(conversation, row, part, said.text)
    else if (part.correlatedId !== undefined) {
      const question = this.#ids.get(part.correlatedId)
      if (question >= 0 && this.#script.closedBy(question) === noRow) this.#script.setClosedBy(question, row)
    }
    conversation.last = row
  }

  #takeCall(conversation: RecordedConversation, row: number, part: Part, text: string): void {
    const { envelope } = part
    if (envelope.modern) this.#modern = true
    else this.#legacy = true
    if (envelope.protocolVersion !== undefined) this.#versions.add(envelope.protocolVersion)
    if (envelope.method === 'initialize') conversation.opened = true
    else conversation.opened ??= false
    this.#calls.add(row, text, envelope)
    if (envelope.method !== 'subscriptions/listen') conversation.open.push(row)
    for (const { kind, to } of part.links ?? []) {
      const before = kind === 'round' ? this.#ids.get(to) : noRow
      if (before >= 0) this.#script.setNextRound(before, row)
    }
  }

  #takeNote(conversation: RecordedConversation, row: number, part: Part, text: string): void {
    const cancel = part.links?.find(({ kind }) => kind === 'cancel')
    const call = cancel ? this.#ids.get(cancel.to) : noRow
    if (call >= 0) {
      if (this.#script.closedBy(call) === noRow) this.#script.setClosedBy(call, row)
      this.#close(conversation, call)
    } else this.#calls.add(row, text, part.envelope)
  }

  #takeServer(record: MessageRecord, part: Part, said: Omit<NewRow, 'kind' | 'conversation'>): void {
    const { envelope } = part
    const { http } = record
    const exchange = http && this.#exchanges.get(http.exchange)
    const answered = part.correlatedId === undefined ? noRow : this.#ids.get(part.correlatedId)
    // An error without an id in the HTTP response to a request belongs to that request.
    const isAnswer = envelope.kind === 'result' || envelope.kind === 'error'
    const call = answered >= 0 ? answered : isAnswer && exchange ? exchange.call : noRow
    const conversation =
      exchange?.conversation ??
      this.#conversations.byNumber(this.#script.conversation(call)) ??
      this.#conversations.of(record.conversation ?? '')
    this.#counts.server += 1
    const kind = isAnswer ? 'answer' : envelope.kind === 'request' ? 'question' : 'notice'
    const row = this.#script.add({
      ...said,
      kind: isAnswer && call < 0 ? 'notice' : kind,
      conversation: conversation.number,
      way: wayOf(record, exchange?.call ?? noRow),
      ...(http?.status !== undefined && carriesBody(http.status) && { status: http.status }),
    })
    if (part.id !== undefined) this.#ids.set(part.id, row)
    this.#noteSession(record, envelope)
    this.#server = envelope.peer ?? this.#server
    if (kind === 'notice' && envelope.method !== undefined && this.#notices.size < 1_000)
      this.#notices.add(envelope.method)
    if (envelope.kind === 'result' && (exchange ? exchange.modern : this.#modern))
      this.#witness.answered(said.text, envelope, exchange?.hasHeaderFault ?? false)
    if (isAnswer) {
      if (call >= 0 && this.#script.answerTo(call) === noRow) this.#script.setAnswer(call, row)
      if (call >= 0) this.#close(conversation, call)
      return this.#script.addEffect(call >= 0 ? call : conversation.last, row)
    }
    this.#script.addEffect(this.#causeOf(conversation, kind, row, part, exchange?.call ?? noRow), row)
  }

  /** The client's message from which this message of the server follows. */
  #causeOf(
    conversation: RecordedConversation,
    kind: 'question' | 'notice' | 'answer',
    row: number,
    part: Part,
    onStreamOf: number,
  ): number {
    let cause = onStreamOf
    for (const { kind: link, to } of part.links ?? []) {
      const named = this.#ids.get(to)
      if (named < 0) continue
      this.#script.setNames(row, named)
      if (link === 'progress') return named
      // A subscription's notification follows from the change, not from the subscription.
      if (link === 'subscription') cause = noRow
    }
    const { open, last } = conversation
    if (cause >= 0 && open.includes(cause)) return cause
    const latest = open.at(-1)
    if (latest === undefined) return last
    // A request right after a notification is about its content (changed roots).
    return kind === 'question' && last > latest && this.#script.kind(last) === 'note' ? last : latest
  }

  #close({ open }: RecordedConversation, call: number): void {
    const at = open.lastIndexOf(call)
    if (at >= 0) open.splice(at, 1)
  }

  #remember(number: number, exchange: Exchange): void {
    if (this.#exchanges.size >= rememberedExchanges)
      this.#exchanges.delete(this.#exchanges.keys().next().value!)
    this.#exchanges.set(number, exchange)
  }

  #noteHeaders(headers: HttpHeaders, { modern: isModern }: Envelope): void {
    if (isModern) return
    const valueOf = (wanted: string): string | undefined =>
      headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
    this.#lenient.accept ||= !acceptsBoth(valueOf('accept'))
    this.#lenient.contentType ||= !isJsonType(valueOf('content-type'))
  }

  #noteSession(record: MessageRecord, envelope: Envelope): void {
    // Only the result of `initialize` has both, and only that response names a session.
    if (envelope.kind !== 'result' || envelope.protocolVersion === undefined || !record.http?.headers) return
    const named = record.http.headers.some(([name]) => name.toLowerCase() === 'mcp-session-id')
    this.#sessions = this.#sessions === true || named
  }

  #takeNoise(record: NoiseRecord): void {
    if (record.direction !== 'server_to_client' || record.bytes !== undefined) return
    const conversation = this.#conversations.of('')
    const row = this.#script.add({
      kind: 'noise',
      text: record.text,
      conversation: conversation.number,
      number: noRow,
      us: this.#usOf(record),
    })
    this.#script.addEffect(conversation.open.at(-1) ?? conversation.last, row)
  }

  /** A server ended by its client has responded to everything, or ends with status 0. */
  #takeEnd({ exitCode, wiretape }: EndRecord): void {
    const call = this.#conversations.of('').open.at(-1)
    if (this.#transport !== 'stdio' || exitCode === null || exitCode === 0 || wiretape?.recovered) return
    if (call === undefined || wiretape?.rotated || this.#session > 1) return
    this.#death = { call, exitCode, ...(wiretape?.signal !== undefined && { signal: wiretape.signal }) }
  }

  #takeHttp(record: HttpRecord): void {
    if (isEndpointEvent(record)) this.#transport = 'sse'
    if (record.method === 'GET' && record.status !== undefined) {
      this.#noStream = record.status === 405 && this.#noStream !== false
    }
    const exchange = this.#exchanges.get(record.exchange)
    if (!exchange || exchange.call < 0 || this.#script.answerTo(exchange.call) !== noRow) return
    const { conversation, call } = exchange
    if (exchange.modern && record.why?.startsWith('client') === true) {
      // From 2026-07-28 on, a client that leaves cancels. Everything after this point came too late.
      if (this.#script.closedBy(call) === noRow) this.#script.setClosedBy(call, this.#script.length)
      this.#close(conversation, call)
    } else if (record.status === 401 || record.status === 403) {
      // The mock requires no login.
      this.#calls.leaveOut(call)
      this.#close(conversation, call)
    } else if (record.status !== undefined && record.status >= 400) {
      // An invalid status was no response.
      if (carriesBody(record.status)) this.#takeRefusal(record, record.status, exchange)
      else this.#close(conversation, call)
    }
  }

  #takeRefusal(record: HttpRecord, status: number, { conversation, call }: Exchange): void {
    this.#counts.server += 1
    const row = this.#script.add({
      kind: 'refusal',
      text: record.body ?? '',
      conversation: conversation.number,
      number: noRow,
      us: this.#usOf(record),
      status,
    })
    this.#script.addEffect(call, row)
    this.#close(conversation, call)
  }
}

/** A status that Node can send with a response body; a recording may contain any number. */
function carriesBody(status: number): boolean {
  return status >= 200 && status <= 999 && status !== 204 && status !== 304
}

function wayOf(record: MessageRecord, call: number): RecordedWay {
  if (!record.http) return 'unknown'
  if (call < 0) return 'other-stream'
  return record.sse ? 'request-stream' : 'json'
}

/** The marks of one message of a frame, with pointers into that message. */
function marksOf(record: MessageRecord, part: number): RedactionMark[] {
  const red = record.red ?? []
  if (!record.batch) return [...red]
  const prefix = `/${part}`
  return red.flatMap(({ at, tag }) =>
    at === prefix || at.startsWith(`${prefix}/`) ? [{ at: at.slice(prefix.length), tag }] : [],
  )
}
