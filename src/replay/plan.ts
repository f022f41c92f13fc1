import { createRecordingIndex, type RecordingIndex } from '../compare/index.js'
import { matchFilter, rowSubject, type Filter } from '../filter/index.js'
import {
  createIntColumn,
  isAnswer,
  WiretapeError,
  type HttpHeaders,
  type MessageRecord,
  type Report,
  type Session,
  type Transport,
} from '../model/index.js'
import type { OpenRecords } from '../tape/index.js'
import { createPlannedFrames, type PlannedFrames } from './planned-frames.js'
import { createPlannedNotices, type PlannedNotices } from './planned-notices.js'

/** A request that the server made, and how the client answered it. */
export interface PlannedQuestion {
  readonly row: number
  readonly connection: string
  readonly method: string
  /** Row of the client's answer; -1 when it gave none. */
  readonly answerRow: number
  /**
   * It may come or not: it is a ping, or what it followed from is not sent, as the filter wants it, or the client had said its last word
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
  readonly frames: PlannedFrames
  readonly questions: readonly PlannedQuestion[]
  /** None where a filter leaves out what they may have followed from. */
  readonly notices: PlannedNotices
  readonly connections: ReadonlyMap<string, PlannedConnection>
  /** Messages of the client, all of them. */
  readonly messages: number
  /** The record at a locator. */
  read(locator: number): Promise<MessageRecord>
  /** Exact text of the message in a row, and what was redacted in it. */
  message(row: number): Promise<{ record: MessageRecord; part: number }>
}

interface Talk {
  /** Its session's number and its own name. */
  readonly conversation: string
  initializes: boolean
  modern: boolean
  version: string | undefined
}

/** Bytes of a recording that a replay holds in memory: it needs each message more than once. */
export const keptBytes = 16 << 20

/** Methods without which nothing else can be asked. */
export const handshake: ReadonlySet<string | undefined> = new Set([
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
  /** Of each record that matters: the row of its first message, how many it has, and whose talk it is of. */
  const drafts = { rows: createIntColumn(), counts: createIntColumn(), talks: createIntColumn() }
  const noticed = createPlannedNotices()
  const talks: Talk[] = []
  const talkNumbers = new Map<string, number>()
  let sessions = 0
  let hasEndpoint = false
  for await (const { record, locator } of records.records(report)) {
    const { first } = indexer.take(record, locator)
    // A further segment goes on with the session.
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
    if (!filter) noticed.take(record, first, number)
    if (!isOfClient(record) && record.parts.every(({ envelope }) => envelope.kind !== 'request')) continue
    drafts.rows.push(first)
    drafts.counts.push(record.parts.length)
    drafts.talks.push(number)
  }
  const index = indexer.finish()
  const { entries } = index
  const read = async (locator: number): Promise<MessageRecord> => {
    const record = await records.read(locator)
    if (record.type === 'message') return record
    throw new WiretapeError('unreadable', `${name} changed while it was read`)
  }

  const planned = createPlannedFrames(index)
  const questions: PlannedQuestion[] = []
  const connections = new Map<string, PlannedConnection>()
  const connectionNames = talks.map(connectionOf)
  /** The handshake goes along, but alone it is not what was asked for. */
  let isAnyTaken = false
  let hasClient = false
  const left = createLeftOut(index)
  const lastSaid = new Map<string, number>()
  for (let draft = 0; draft < drafts.rows.length; draft += 1) {
    const [row, count, talk] = [drafts.rows.get(draft), drafts.counts.get(draft), drafts.talks.get(draft)]
    const connection = connectionNames[talk]!
    if (!connections.has(connection)) connections.set(connection, openingOf(connection, talks[talk]!))
    if (entries.direction(row) === 'server_to_client') {
      for (let asked = row; asked < row + count; asked += 1) {
        if (entries.kind(asked) !== 'request') continue
        const { method } = index.subjects[index.subjectOf(asked)]!
        const answerRow = entries.peer(asked)
        // How many pings come is a matter of time: a server's heart, or a proxy's.
        const optional = method === 'ping' || left.causes(connection, asked)
        questions.push({ row: asked, connection, method, answerRow, optional })
      }
      continue
    }
    hasClient = true
    lastSaid.set(connection, row)
    if (!filter) {
      planned.add({ row, connection, count })
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
      planned.add({ row, connection, count: parts.length }, parts.length < count ? parts : undefined)
  }
  const frames = planned.finish()
  if (frames.length === 0 || (filter && !isAnyTaken)) {
    const why = filter && hasClient ? 'no message that the filter takes' : 'no message of a client'
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
    notices: noticed.finish((talk) => connectionNames[talk]!),
    connections,
    messages: frames.messages,
    read,
    async message(row) {
      const { locator, part } = index.place(row)
      return { record: await read(locator), part }
    },
  }
}

/** Requests that are left out, while they are open in the recording. */
export function createLeftOut({ entries }: RecordingIndex): {
  take(
    connection: string,
    row: number,
    record: MessageRecord,
    isTaken: (row: number, part: number) => boolean,
  ): void
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

function isOfClient({ direction }: MessageRecord): boolean {
  return direction === 'client_to_server'
}

/** Conversations without a handshake have no state of their own, and may share a connection. */
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
