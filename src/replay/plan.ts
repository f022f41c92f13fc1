import { createRecordingIndex, type RecordingIndex } from '../compare/index.js'
import { matchFilter, rowSubject, type Filter } from '../filter/index.js'
import {
  createIntColumn,
  isAnswer,
  WiretapeError,
  type Column,
  type HttpHeaders,
  type MessageRecord,
  type Report,
  type Session,
  type Transport,
} from '../model/index.js'
import type { OpenRecords } from '../tape/index.js'
import { PlannedFrames } from './planned-frames.js'
import { createPlannedNotices, type NoticesDraft, type PlannedNotices } from './planned-notices.js'

/** A request of the server, and the client's response. */
export interface PlannedQuestion {
  readonly row: number
  readonly connection: string
  readonly method: string
  /** Row of the client's response; -1 if none. */
  readonly answerRow: number
  /**
   * The request may or may not come: it is a ping, its cause is not sent because of the filter, or the client had sent
   * its last message and left without a response.
   */
  readonly optional: boolean
}

/** One client's conversation, which needs its own connection. */
export interface PlannedConnection {
  readonly name: string
  /** How it opens: as recorded, with a handshake of our own, or without one, as in the modern era. */
  readonly opening: 'recorded' | 'none' | 'missing'
  /** The protocol version in use. */
  readonly protocolVersion?: string
}

/** Everything that the client has to do according to the recording. No payloads. */
export interface Plan {
  readonly index: RecordingIndex
  readonly session: Session | undefined
  /** The recorded transport; a recorder of HTTP need not know which of the two it is. */
  readonly transport: Transport
  readonly frames: PlannedFrames
  readonly questions: readonly PlannedQuestion[]
  /** None where a filter leaves out their possible causes. */
  readonly notices: PlannedNotices
  readonly connections: ReadonlyMap<string, PlannedConnection>
  /** Number of messages of the client. */
  readonly messages: number
  /** The record at a locator. */
  read(locator: number): Promise<MessageRecord>
  /** The record with the message in a row, and the message's part in it. */
  message(row: number): Promise<{ record: MessageRecord; part: number }>
}

interface Talk {
  /** Number of the session and name of the conversation. */
  readonly conversation: string
  initializes: boolean
  modern: boolean
  version: string | undefined
}

/** Bytes of a recording that a replay holds in memory, since it needs each message more than once. */
export const keptBytes = 16 << 20

/** Methods that must come before all other requests. */
export const handshake: ReadonlySet<string | undefined> = new Set([
  'initialize',
  'notifications/initialized',
  'server/discover',
])

/** A recording after one pass. */
interface Draft {
  readonly index: RecordingIndex
  readonly talks: readonly Talk[]
  /** For each relevant record: the row of its first message, its number of messages, and its conversation. */
  readonly rows: Column
  readonly counts: Column
  readonly talkOf: Column
  readonly notices: NoticesDraft
  readonly hasEndpoint: boolean
}

/**
 * Reads a recording once.
 *
 * @throws WiretapeError when the recording has no message of a client
 */
export async function planReplay(
  records: Pick<OpenRecords, 'records' | 'read'>,
  name: string,
  report: Report,
  filter?: Filter,
): Promise<Plan> {
  const draft = await readDraft(records, report, filter === undefined)
  const { index, talks, rows, counts } = draft
  const { entries } = index
  const read = async (locator: number): Promise<MessageRecord> => {
    const record = await records.read(locator)
    if (record.type === 'message') return record
    throw new WiretapeError('unreadable', `${name} changed while being read`)
  }

  const frames = new PlannedFrames(index)
  const questions: PlannedQuestion[] = []
  const connections = new Map<string, PlannedConnection>()
  const connectionNames = talks.map(connectionOf)
  /** The handshake is sent with a filter too, but it alone is not what the user asked for. */
  let isAnyTaken = false
  let hasClient = false
  const left = createLeftOut(index)
  const lastSaid = new Map<string, number>()
  for (let i = 0; i < rows.length; i += 1) {
    const [row, count, talk] = [rows.get(i), counts.get(i), draft.talkOf.get(i)]
    const connection = connectionNames[talk]!
    if (!connections.has(connection)) connections.set(connection, openingOf(connection, talks[talk]!))
    if (entries.direction(row) === 'server_to_client') {
      questions.push(...questionsIn(index, left, { row, connection, count }))
      continue
    }
    hasClient = true
    lastSaid.set(connection, row)
    if (!filter) {
      frames.add({ row, connection, count })
      continue
    }
    const record = await read(index.place(row).locator)
    const isTaken = takenBy(filter, record, index)
    left.take(connection, row, record, isTaken)
    const parts = record.parts.flatMap(({ envelope }, part) => {
      const isWanted = isTaken(row + part, part)
      isAnyTaken ||= isWanted
      return isWanted || handshake.has(envelope.method) ? [part] : []
    })
    if (parts.length > 0)
      frames.add({ row, connection, count: parts.length }, parts.length < count ? parts : undefined)
  }
  if (frames.length === 0 || (filter && !isAnyTaken)) {
    const why = filter && hasClient ? 'no message that matches the filter' : 'no client message'
    throw new WiretapeError('not-a-recording', `${name} has ${why}`, { hint: 'there is nothing to replay' })
  }
  const cameTooLate = ({ row, connection, answerRow }: PlannedQuestion): boolean =>
    answerRow < 0 && row > (lastSaid.get(connection) ?? -1)
  return {
    index,
    session: index.sessions[0],
    transport: draft.hasEndpoint ? 'sse' : (index.sessions[0]?.transport ?? 'stdio'),
    frames,
    questions: questions.map((one) => (cameTooLate(one) ? { ...one, optional: true } : one)),
    notices: draft.notices.finish((talk) => connectionNames[talk]!),
    connections,
    messages: frames.messages,
    read,
    async message(row) {
      const { locator, part } = index.place(row)
      return { record: await read(locator), part }
    },
  }
}

async function readDraft(
  records: Pick<OpenRecords, 'records'>,
  report: Report,
  withNotices: boolean,
): Promise<Draft> {
  const indexer = createRecordingIndex({ clientKeys: false })
  const columns = { rows: createIntColumn(), counts: createIntColumn(), talkOf: createIntColumn() }
  const notices = createPlannedNotices()
  const talks: Talk[] = []
  const talkNumbers = new Map<string, number>()
  let sessions = 0
  let hasEndpoint = false
  for await (const { record, locator } of records.records(report)) {
    const { first } = indexer.take(record, locator)
    // A further segment continues the session.
    if (record.type === 'meta' && (record.wiretape?.segment ?? 0) === 0) sessions += 1
    if (record.type === 'http' && record.sse?.event === 'endpoint') hasEndpoint = true
    if (record.type !== 'message') continue
    const conversation = `${sessions} ${record.conversation ?? ''}`
    const number = talkNumbers.get(conversation) ?? talks.length
    if (number === talks.length) {
      talks.push({ conversation, initializes: false, modern: false, version: undefined })
      talkNumbers.set(conversation, number)
    }
    noteTalk(talks[number]!, record)
    if (withNotices) notices.take(record, first, number)
    if (!isOfClient(record) && record.parts.every(({ envelope }) => envelope.kind !== 'request')) continue
    columns.rows.push(first)
    columns.counts.push(record.parts.length)
    columns.talkOf.push(number)
  }
  return { index: indexer.finish(), talks, ...columns, notices, hasEndpoint }
}

/** The requests of the server in the rows of one record. */
function questionsIn(
  index: RecordingIndex,
  left: LeftOut,
  { row, connection, count }: { readonly row: number; readonly connection: string; readonly count: number },
): PlannedQuestion[] {
  const { entries } = index
  const questions: PlannedQuestion[] = []
  for (let asked = row; asked < row + count; asked += 1) {
    if (entries.kind(asked) !== 'request') continue
    const { method } = index.subjects[index.subjectOf(asked)]!
    const answerRow = entries.peer(asked)
    // The number of pings depends on time: a server's heartbeat, or a proxy's.
    const optional = method === 'ping' || left.causes(connection, asked)
    questions.push({ row: asked, connection, method, answerRow, optional })
  }
  return questions
}

/** Left-out requests, while they are open in the recording. */
export interface LeftOut {
  take(
    connection: string,
    row: number,
    record: MessageRecord,
    isTaken: (row: number, part: number) => boolean,
  ): void
  /** Whether the server's message in this row follows from left-out requests. */
  causes(connection: string, row: number): boolean
}

export function createLeftOut({ entries }: RecordingIndex): LeftOut {
  const open = new Map<string, { readonly answer: number; readonly isSent: boolean }[]>()
  const openAt = (connection: string, row: number): { readonly isSent: boolean }[] => {
    const left = (open.get(connection) ?? []).filter(({ answer }) => answer > row)
    open.set(connection, left)
    return left
  }
  return {
    take(connection, first, { parts }, isTaken) {
      openAt(connection, first)
      for (const [part, { envelope }] of parts.entries()) {
        const { kind, method } = envelope
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

/** Whether a filter matches the message in a row of one record. */
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

function isOfClient({ direction }: MessageRecord): boolean {
  return direction === 'client_to_server'
}

/** Conversations without a handshake have no state of their own and may share a connection. */
function connectionOf({ conversation, initializes }: Talk): string {
  return initializes ? conversation : `${conversation.split(' ', 1)[0]} `
}

function noteTalk(talk: Talk, record: MessageRecord): void {
  for (const { envelope } of record.parts) {
    if (envelope.method === 'initialize') talk.initializes = true
    if (envelope.modern || envelope.method === 'server/discover') talk.modern = true
    if (envelope.protocolVersion !== undefined) talk.version = envelope.protocolVersion
  }
  talk.version ??= headerOf(record.http?.headers, 'mcp-protocol-version')
}

function openingOf(name: string, talk: Talk): PlannedConnection {
  const opening = talk.initializes ? 'recorded' : talk.modern ? 'none' : 'missing'
  return { name, opening, ...(talk.version !== undefined && { protocolVersion: talk.version }) }
}

function headerOf(headers: HttpHeaders | undefined, name: string): string | undefined {
  return headers?.find(([written]) => written.toLowerCase() === name)?.[1]
}
