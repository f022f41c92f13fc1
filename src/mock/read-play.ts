import {
  createIdTable,
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

/** HTTP exchanges that are remembered while a recording is read. */
const rememberedExchanges = 10_000
interface Exchange {
  readonly conversation: RecordedConversation
  /** The request in it, or `noRow`. */
  readonly call: number
  readonly modern: boolean
  /** Its headers said something else than its body, or nothing. */
  readonly hasHeaderFault: boolean
}

/** Reads a recording once. @throws what its reader throws, and WiretapeError `unwritable` of the text store */
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
  const calls: CallIndexWriter = createCallIndex()
  const conversations = createRecordedConversations()
  const exchanges = new Map<number, Exchange>()
  const saidTags = new Set<string>()
  const counts = { client: 0, server: 0 }
  let ids = createIdTable()
  let session = 0
  let sessionId: string | undefined
  let startedMs = NaN
  let nextNumber = 0
  let transport: Transport = 'stdio'
  let url: string | null = null
  let sessions: boolean | undefined
  let noStream: boolean | undefined
  let server: Envelope['peer']
  const versions = new Set<string>()
  const notices = new Set<string>()
  let legacy = false
  let modern = false
  const witness = createHeaderWitness()
  let death: RecordedDeath | undefined
  const lenient = { accept: false, contentType: false }

  function usOf(record: { readonly t: string; readonly us?: number }): number {
    if (record.us !== undefined) return record.us
    const us = (Date.parse(record.t) - startedMs) * 1000
    return Number.isFinite(us) ? us : 0
  }

  function takeMessage(record: MessageRecord): void {
    for (const [i, part] of record.parts.entries()) {
      const number = record.seq === undefined ? nextNumber : record.seq + i
      nextNumber = number + 1
      const marks = marksOf(record, i)
      const row = {
        text: record.batch ? record.raw.slice(part.start, part.end) : record.raw,
        number,
        us: usOf(record),
        ...(marks.length > 0 && { marks }),
      }
      if (record.direction === 'client_to_server') takeClient(record, part, row)
      else takeServer(record, part, row)
    }
  }

  function takeClient(record: MessageRecord, part: Part, said: Omit<NewRow, 'kind' | 'conversation'>): void {
    const { envelope } = part
    if (envelope.kind === 'invalid') return
    counts.client += 1
    for (const { tag } of said.marks ?? []) saidTags.add(tag)
    const conversation = conversations.ofClient(record, envelope)
    const kind = envelope.kind === 'request' ? 'call' : envelope.kind === 'notification' ? 'note' : 'reply'
    const row = script.add({ ...said, kind, conversation: conversation.number })
    if (part.id !== undefined) ids.set(part.id, row)
    if (record.http?.headers) noteHeaders(record.http.headers, envelope)
    const { modern: isModern = false } = envelope
    if (record.http)
      remember(record.http.exchange, {
        conversation,
        call: kind === 'call' ? row : noRow,
        modern: isModern,
        hasHeaderFault: isModern && witness.asked(record.http.headers ?? [], said.text, envelope),
      })
    if (kind === 'call') takeCall(conversation, row, part, said.text)
    else if (kind === 'note') takeNote(conversation, row, part, said.text)
    else if (part.correlatedId !== undefined) {
      const question = ids.get(part.correlatedId)
      if (question >= 0 && script.closedBy(question) === noRow) script.setClosedBy(question, row)
    }
    conversation.last = row
  }

  function takeCall(conversation: RecordedConversation, row: number, part: Part, text: string): void {
    const { envelope } = part
    if (envelope.modern) modern = true
    else legacy = true
    if (envelope.protocolVersion !== undefined) versions.add(envelope.protocolVersion)
    if (envelope.method === 'initialize') conversation.opened = true
    else conversation.opened ??= false
    calls.add(row, text, envelope)
    if (envelope.method !== 'subscriptions/listen') conversation.open.push(row)
    for (const { kind, to } of part.links ?? []) {
      const before = kind === 'round' ? ids.get(to) : noRow
      if (before >= 0) script.setNextRound(before, row)
    }
  }

  function takeNote(conversation: RecordedConversation, row: number, part: Part, text: string): void {
    const cancel = part.links?.find(({ kind }) => kind === 'cancel')
    const call = cancel ? ids.get(cancel.to) : noRow
    if (call >= 0) {
      if (script.closedBy(call) === noRow) script.setClosedBy(call, row)
      close(conversation, call)
    } else calls.add(row, text, part.envelope)
  }

  function takeServer(record: MessageRecord, part: Part, said: Omit<NewRow, 'kind' | 'conversation'>): void {
    const { envelope } = part
    const { http } = record
    const exchange = http && exchanges.get(http.exchange)
    const answered = part.correlatedId === undefined ? noRow : ids.get(part.correlatedId)
    // An error without an id that stands in the response of a request answers that one.
    const isAnswer = envelope.kind === 'result' || envelope.kind === 'error'
    const call = answered >= 0 ? answered : isAnswer && exchange ? exchange.call : noRow
    const conversation =
      exchange?.conversation ??
      conversations.byNumber(script.conversation(call)) ??
      conversations.of(record.conversation ?? '')
    counts.server += 1
    const kind = isAnswer ? 'answer' : envelope.kind === 'request' ? 'question' : 'notice'
    const row = script.add({
      ...said,
      kind: isAnswer && call < 0 ? 'notice' : kind,
      conversation: conversation.number,
      way: wayOf(record, exchange?.call ?? noRow),
      ...(http?.status !== undefined && carriesBody(http.status) && { status: http.status }),
    })
    if (part.id !== undefined) ids.set(part.id, row)
    noteSession(record, envelope)
    server = envelope.peer ?? server
    if (kind === 'notice' && envelope.method !== undefined && notices.size < 1_000)
      notices.add(envelope.method)
    if (envelope.kind === 'result' && (exchange ? exchange.modern : modern))
      witness.answered(said.text, envelope, exchange?.hasHeaderFault ?? false)
    if (isAnswer) {
      if (call >= 0 && script.answerTo(call) === noRow) script.setAnswer(call, row)
      if (call >= 0) close(conversation, call)
      return script.addEffect(call >= 0 ? call : conversation.last, row)
    }
    script.addEffect(causeOf(conversation, kind, row, part, exchange?.call ?? noRow), row)
  }

  /** The message of the client that this one of the server follows from. */
  function causeOf(
    conversation: RecordedConversation,
    kind: 'question' | 'notice' | 'answer',
    row: number,
    part: Part,
    onStreamOf: number,
  ): number {
    let cause = onStreamOf
    for (const { kind: link, to } of part.links ?? []) {
      const named = ids.get(to)
      if (named < 0) continue
      script.setNames(row, named)
      if (link === 'progress') return named
      // What a subscription brings follows from what changed it.
      if (link === 'subscription') cause = noRow
    }
    const { open, last } = conversation
    if (cause >= 0 && open.includes(cause)) return cause
    const latest = open.at(-1)
    if (latest === undefined) return last
    // A question asked right after a notification is about what that says (roots that changed).
    return kind === 'question' && last > latest && script.kind(last) === 'note' ? last : latest
  }

  function close({ open }: RecordedConversation, call: number): void {
    const at = open.lastIndexOf(call)
    if (at >= 0) open.splice(at, 1)
  }

  function remember(number: number, exchange: Exchange): void {
    if (exchanges.size >= rememberedExchanges) exchanges.delete(exchanges.keys().next().value!)
    exchanges.set(number, exchange)
  }

  function noteHeaders(headers: HttpHeaders, { modern: isModern }: Envelope): void {
    if (isModern) return
    const valueOf = (wanted: string): string | undefined =>
      headers.find(([name]) => name.toLowerCase() === wanted)?.[1]
    lenient.accept ||= !acceptsBoth(valueOf('accept'))
    lenient.contentType ||= !isJsonType(valueOf('content-type'))
  }

  function noteSession(record: MessageRecord, envelope: Envelope): void {
    // Only the answer to `initialize` has both, and only there is a session named.
    if (envelope.kind !== 'result' || envelope.protocolVersion === undefined || !record.http?.headers) return
    const named = record.http.headers.some(([name]) => name.toLowerCase() === 'mcp-session-id')
    sessions = sessions === true || named
  }

  function takeNoise(record: NoiseRecord): void {
    if (record.direction !== 'server_to_client' || record.bytes !== undefined) return
    const conversation = conversations.of('')
    const row = script.add({
      kind: 'noise',
      text: record.text,
      conversation: conversation.number,
      number: noRow,
      us: usOf(record),
    })
    script.addEffect(conversation.open.at(-1) ?? conversation.last, row)
  }

  /** A server that its client ended has answered everything, or ends with status 0. */
  function takeEnd({ exitCode, wiretape }: EndRecord): void {
    const call = conversations.of('').open.at(-1)
    if (transport !== 'stdio' || exitCode === null || exitCode === 0 || wiretape?.recovered) return
    if (call === undefined || wiretape?.rotated || session > 1) return
    death = { call, exitCode, ...(wiretape?.signal !== undefined && { signal: wiretape.signal }) }
  }

  function takeHttp(record: HttpRecord): void {
    if (isEndpointEvent(record)) transport = 'sse'
    if (record.method === 'GET' && record.status !== undefined) {
      noStream = record.status === 405 && noStream !== false
    }
    const exchange = exchanges.get(record.exchange)
    if (!exchange || exchange.call < 0 || script.answerTo(exchange.call) !== noRow) return
    const { conversation, call } = exchange
    if (exchange.modern && record.why?.startsWith('client') === true) {
      // From 2026-07-28 on, a client that leaves cancels. Whatever comes from here on came too late.
      if (script.closedBy(call) === noRow) script.setClosedBy(call, script.length)
      close(conversation, call)
    } else if (record.status === 401 || record.status === 403) {
      // We ask nobody who he is.
      calls.leaveOut(call)
      close(conversation, call)
    } else if (record.status !== undefined && record.status >= 400) {
      // What is no status was no answer.
      if (carriesBody(record.status)) takeRefusal(record, record.status, exchange)
      else close(conversation, call)
    }
  }

  function takeRefusal(record: HttpRecord, status: number, { conversation, call }: Exchange): void {
    counts.server += 1
    const row = script.add({
      kind: 'refusal',
      text: record.body ?? '',
      conversation: conversation.number,
      number: noRow,
      us: usOf(record),
      status,
    })
    script.addEffect(call, row)
    close(conversation, call)
  }

  return {
    take(record) {
      if (record.type === 'message') takeMessage(record)
      else if (record.type === 'noise') takeNoise(record)
      else if (record.type === 'http') takeHttp(record)
      else if (record.type === 'end') takeEnd(record)
      else if (record.type === 'meta') {
        const identity = record.wiretape
        if (identity?.session !== undefined && identity.session === sessionId) return
        sessionId = identity?.session
        session += 1
        conversations.nextSession()
        ids = createIdTable()
        exchanges.clear()
        nextNumber = 0
        startedMs = Date.parse(record.startedAt)
        transport = identity?.transport ?? transport
        url ??= identity?.url ?? null
      }
    },
    done() {
      // What is left lives as long as the play does.
      ids = createIdTable()
      exchanges.clear()
      return {
        script,
        calls,
        openings: conversations.openings(),
        transport,
        url,
        sessions,
        opened: conversations.hasOpened(),
        noStream: noStream === true,
        legacy,
        modern,
        lenient,
        mirrored: witness.rules(),
        death,
        saidTags,
        conversationName: (number) => conversations.byNumber(number)?.name || undefined,
        seen: { server, versions: [...versions], notices: [...notices] },
        counts: { ...counts, sessions: session },
      }
    },
  }
}

/** What Node sends as the status of a response with something in it; a recording may say anything. */
function carriesBody(status: number): boolean {
  return status >= 200 && status <= 999 && status !== 204 && status !== 304
}

function wayOf(record: MessageRecord, call: number): RecordedWay {
  if (!record.http) return 'unknown'
  if (call < 0) return 'other-stream'
  return record.sse ? 'request-stream' : 'json'
}

/** The marks of one message of a frame, their pointers into it. */
function marksOf(record: MessageRecord, part: number): RedactionMark[] {
  const red = record.red ?? []
  if (!record.batch) return [...red]
  const prefix = `/${part}`
  return red.flatMap(({ at, tag }) =>
    at === prefix || at.startsWith(`${prefix}/`) ? [{ at: at.slice(prefix.length), tag }] : [],
  )
}
