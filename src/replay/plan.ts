import { createRecordingIndex, type RecordingIndex } from '../compare/index.js'
import { matchFilter, rowSubject, type Filter } from '../filter/index.js'
import {
  detach,
  isAnswer,
  type Envelope,
  type HttpHeaders,
  type MessageRecord,
  type Report,
  type Session,
  type Transport,
  type Draft,
} from '../model/index.js'
import { WiretapeError } from '../model/index.js'
import type { OpenRecords } from '../tape/index.js'

/** One message that the client said. */
export interface PlannedMessage {
  /** Its place among the messages of the client, from 0. */
  readonly index: number
  readonly row: number
  readonly part: number
  /** Number given at recording. */
  readonly seq: number
  readonly kind: 'request' | 'notification' | 'answer' | 'invalid'
  readonly method?: string
  readonly name?: string
  /** Exact JSON text. */
  readonly id?: string
  /** Row of the answer to a request, of the request that an answer belongs to; -1 for none. */
  readonly peer: number
  /** Nobody counts on an answer: it was cancelled, or stays open by design. */
  readonly loose: boolean
}

/** What the client sent at once: one message, or a batch. */
export interface PlannedFrame {
  readonly locator: number
  /** Row of its first message. */
  readonly row: number
  /** When it was sent: microseconds since the session began. */
  readonly us: number
  readonly connection: string
  readonly messages: readonly PlannedMessage[]
}

/** A request that the server made, and how the client answered it. */
export interface PlannedQuestion {
  readonly row: number
  readonly connection: string
  readonly method: string
  /** Row of the client's answer; -1 when it gave none. */
  readonly answerRow: number
  /**
   * It may come or not: what it followed from is not sent, as the filter wants it, or the client had said its last word
   * and left without an answer.
   */
  readonly optional: boolean
}

/** One client's talk, which needs a connection of its own. */
export interface PlannedConnection {
  readonly name: string
  /** How it opens: as recorded, with a handshake that we make, or without any, as the modern era does. */
  readonly opening: 'recorded' | 'none' | 'missing'
  /** The version that was spoken. */
  readonly protocolVersion?: string
}

/** What a recording says that a client has to do. No payloads. */
export interface Plan {
  readonly index: RecordingIndex
  readonly session: Session | undefined
  /** What was spoken; a recorder of HTTP need not have known which of the two. */
  readonly transport: Transport
  readonly frames: readonly PlannedFrame[]
  readonly questions: readonly PlannedQuestion[]
  readonly connections: ReadonlyMap<string, PlannedConnection>
  /** Messages of the client, all of them. */
  readonly messages: number
  /** The record at a locator. */
  read(locator: number): Promise<MessageRecord>
  /** Exact text of the message in a row, and what was redacted in it. */
  message(row: number): Promise<{ record: MessageRecord; part: number }>
}

interface DraftFrame {
  readonly locator: number
  readonly row: number
  readonly us: number
  readonly conversation: string
  readonly fromClient: boolean
  /** Of its messages, in their order. */
  readonly envelopes: readonly DraftEnvelope[]
}

/** Filled member by member: what is spread gets a shape of its own in the engine, each time. */

type DraftEnvelope = Pick<Envelope, 'kind' | 'method' | 'subject' | 'id'>

interface Talk {
  initializes: boolean
  modern: boolean
  version: string | undefined
}

/** Different names that are remembered while a recording is read. */
const mostKnown = 10_000

/** Bytes of a recording that a replay holds in memory: it needs each message more than once. */
export const keptBytes = 16 << 20

const handshake: ReadonlySet<string | undefined> = new Set([
  'initialize',
  'notifications/initialized',
  'server/discover',
])

/**
 * Reads a recording once.
 *
 * @throws WiretapeError when the client says nothing in it
 */
export async function planReplay(
  records: OpenRecords,
  name: string,
  report: Report,
  filter?: Filter,
): Promise<Plan> {
  const indexer = createRecordingIndex({ clientKeys: false })
  const drafts: DraftFrame[] = []
  const talks = new Map<string, Talk>()
  const draftEnvelope = createDrafting()
  let sessions = 0
  let hasEndpoint = false
  for await (const { record, locator } of records.records(report)) {
    const { first } = indexer.take(record, locator)
    // A further segment goes on with the session.
    if (record.type === 'meta' && (record.wiretape?.segment ?? 0) === 0) sessions += 1
    if (record.type === 'http' && record.sse?.event === 'endpoint') hasEndpoint = true
    if (record.type !== 'message') continue
    const conversation = `${sessions} ${record.conversation ?? ''}`
    noteTalk(talks, conversation, record)
    const fromClient = record.direction === 'client_to_server'
    if (!fromClient && record.parts.every(({ envelope }) => envelope.kind !== 'request')) continue
    drafts.push({
      locator,
      row: first,
      us: record.us ?? Date.parse(record.t) * 1000,
      conversation,
      fromClient,
      envelopes: record.parts.map(({ envelope }) => draftEnvelope(envelope)),
    })
  }
  const index = indexer.finish()
  const read = async (locator: number): Promise<MessageRecord> => {
    const record = await records.read(locator)
    if (record.type === 'message') return record
    throw new WiretapeError('unreadable', `${name} changed while it was read`)
  }

  /** Conversations without a handshake have no state of their own, and may share a connection. */
  const connectionOf = (conversation: string): string =>
    talks.get(conversation)?.initializes ? conversation : `${conversation.split(' ', 1)[0]} `
  const frames: PlannedFrame[] = []
  const questions: PlannedQuestion[] = []
  const connections = new Map<string, PlannedConnection>()
  let messages = 0
  /** The handshake goes along, but alone it is not what was asked for. */
  let isAnyTaken = false
  const left = createLeftOut(index)
  const lastSaid = new Map<string, number>()
  for (const draft of drafts) {
    const connection = connectionOf(draft.conversation)
    if (!connections.has(connection))
      connections.set(connection, openingOf(connection, talks.get(draft.conversation)))
    if (!draft.fromClient) {
      for (let row = draft.row; row < draft.row + draft.envelopes.length; row += 1) {
        if (index.entries.kind(row) !== 'request') continue
        const { method } = index.subjects[index.subjectOf(row)]!
        const answerRow = index.entries.peer(row)
        questions.push({ row, connection, method, answerRow, optional: left.causes(connection, row) })
      }
      continue
    }
    lastSaid.set(connection, draft.row)
    const isTaken = filter && takenBy(filter, await read(draft.locator), index)
    if (isTaken) left.take(connection, draft, isTaken)
    isAnyTaken ||= !isTaken || draft.envelopes.some((_, part) => isTaken(draft.row + part, part))
    const planned = messagesOf(draft, index, messages, isTaken)
    if (planned.length === 0) continue
    messages += planned.length
    frames.push({ locator: draft.locator, row: draft.row, us: draft.us, connection, messages: planned })
  }
  if (frames.length === 0 || !isAnyTaken) {
    const why =
      filter && drafts.some(({ fromClient }) => fromClient)
        ? 'no message that the filter takes'
        : 'no message of a client'
    throw new WiretapeError('not-a-recording', `${name} holds ${why}`, { hint: 'there is nothing to replay' })
  }
  const cameTooLate = ({ row, connection, answerRow }: PlannedQuestion): boolean =>
    answerRow < 0 && row > (lastSaid.get(connection) ?? -1)
  return {
    index,
    session: index.sessions[0],
    transport: hasEndpoint ? 'sse' : (index.sessions[0]?.transport ?? 'stdio'),
    frames,
    questions: questions.map((one) => (cameTooLate(one) ? { ...one, optional: true } : one)),
    connections,
    messages,
    read,
    async message(row) {
      const { locator, part } = index.place(row)
      return { record: await read(locator), part }
    },
  }
}

/** Requests that a filter leaves out, while they are open in the recording. */
function createLeftOut({ entries }: RecordingIndex): {
  take(connection: string, draft: DraftFrame, isTaken: (row: number, part: number) => boolean): void
  /** What the server says in this row follows from them. */
  causes(connection: string, row: number): boolean
} {
  const open = new Map<string, { readonly answer: number; readonly isSent: boolean }[]>()
  const openAt = (connection: string, row: number): { readonly isSent: boolean }[] => {
    const left = (open.get(connection) ?? []).filter(({ answer }) => answer > row)
    open.set(connection, left)
    return left
  }
  return {
    take(connection, { row: first, envelopes }, isTaken) {
      openAt(connection, first)
      for (const [part, { kind, method }] of envelopes.entries()) {
        const isSent = handshake.has(method) || isTaken(first + part, part)
        if (kind === 'request') open.get(connection)!.push({ answer: entries.peer(first + part), isSent })
      }
    },
    causes(connection, row) {
      const open = openAt(connection, row)
      return open.length > 0 && open.every(({ isSent }) => !isSent)
    },
  }
}

/** Whether a filter takes the message in a row of one record. */
function takenBy(
  filter: Filter,
  record: MessageRecord,
  index: RecordingIndex,
): (row: number, part: number) => boolean {
  const { entries, subjects } = index
  return (row, i) => {
    const part = record.parts[i]!
    const peer = entries.peer(row)
    const asked = isAnswer(part.envelope) && peer >= 0 ? subjects[index.subjectOf(peer)] : undefined
    const request = asked && {
      method: asked.method,
      ...(asked.name !== undefined && { subject: asked.name }),
    }
    return matchFilter(
      filter,
      rowSubject({ entries, row, record, part, transport: null, ...(request && { request }) }),
    )
  }
}

function messagesOf(
  { row: first, envelopes }: DraftFrame,
  { entries }: RecordingIndex,
  before: number,
  isTaken: ((row: number, part: number) => boolean) | undefined,
): PlannedMessage[] {
  const planned: PlannedMessage[] = []
  for (const [part, envelope] of envelopes.entries()) {
    const row = first + part
    if (isTaken && !handshake.has(envelope.method) && !isTaken(row, part)) continue
    const kind = isAnswer(envelope) ? 'answer' : (envelope.kind as 'request' | 'notification' | 'invalid')
    const message: Draft<PlannedMessage> = {
      index: before + planned.length,
      row,
      part,
      seq: entries.seq(row),
      kind,
      peer: entries.peer(row),
      loose: entries.has(row, 'stream') || entries.has(row, 'cancelled'),
    }
    if (envelope.method !== undefined) message.method = envelope.method
    if (envelope.subject !== undefined) message.name = envelope.subject
    if (envelope.id !== undefined) message.id = envelope.id
    planned.push(message)
  }
  // An array that grew keeps room for many.
  return planned.length === 1 ? [planned[0]!] : planned
}

/** A slice of the line would keep all of it in memory, and a copy each is not needed of what is said often. */
function createDrafting(): (envelope: Envelope) => DraftEnvelope {
  const known = new Map<string, string>()
  function kept(text: string): string {
    const before = known.get(text)
    if (before !== undefined) return before
    const copy = detach(text)
    if (known.size < mostKnown) known.set(copy, copy)
    return copy
  }
  return ({ kind, method, subject, id }) => {
    const draft: Draft<DraftEnvelope> = { kind }
    if (method !== undefined) draft.method = kept(method)
    if (subject !== undefined) draft.subject = kept(subject)
    if (id !== undefined) draft.id = detach(id)
    return draft
  }
}

function noteTalk(talks: Map<string, Talk>, conversation: string, record: MessageRecord): void {
  let talk = talks.get(conversation)
  if (!talk) talks.set(conversation, (talk = { initializes: false, modern: false, version: undefined }))
  for (const { envelope } of record.parts) {
    if (envelope.method === 'initialize') talk.initializes = true
    if (envelope.modern || envelope.method === 'server/discover') talk.modern = true
    if (envelope.protocolVersion !== undefined) talk.version = envelope.protocolVersion
  }
  talk.version ??= headerOf(record.http?.headers, 'mcp-protocol-version')
}

function openingOf(name: string, talk: Talk | undefined): PlannedConnection {
  const opening = talk?.initializes ? 'recorded' : talk?.modern ? 'none' : 'missing'
  return { name, opening, ...(talk?.version !== undefined && { protocolVersion: talk.version }) }
}

function headerOf(headers: HttpHeaders | undefined, name: string): string | undefined {
  return headers?.find(([written]) => written.toLowerCase() === name)?.[1]
}
