import {
  isFrameRecord,
  detach,
  isAnswer,
  isAnsweredHere,
  isOwnAnswer,
  type Direction,
  type Fold,
  type HeldRecord,
  type MessageRecord,
  type Part,
  type TapeRecord,
  type Rows,
} from '../../model/index.js'
import type { PlainRow } from '../quick-load.js'
import { createDurations, type Durations } from './durations.js'
import { addToKey, beginKey, createEarlierCalls, endKey, type CallKey } from './earlier-calls.js'

export const groupings = ['tool', 'method', 'server', 'client', 'day'] as const
export type Grouping = (typeof groupings)[number]

/** Totals of a group of calls. */
export interface Group {
  /** Tool, method, server, client or day. */
  readonly name: string
  /** Of a tool or a method. */
  readonly server: string | null
  calls: number
  /** JSON-RPC errors and results of failed tools. */
  errors: number
  /** Excludes the time for which a person or a rule held the request, and `waitedUs`. */
  readonly durations: Durations
  /** Time for which servers waited for their clients before responding. */
  waitedUs: number
  /** Place of the slowest response. */
  slowest?: { readonly recording: string; readonly sequence: number; readonly us: number }
  requestBytes: number
  responseBytes: number
  /** Calls with the tool and arguments of an earlier failed or cancelled call in the session. */
  retries: number
  cancelled: number
  unanswered: number
}

/** Messages handled by a person or a rule, as in the summary of `inspect`. */
export interface GateCounts {
  held: number
  modified: number
  /** Never forwarded; excludes messages answered in the other side's place. */
  dropped: number
  answeredHere: number
  injected: number
}

/** Counts the calls of successive recordings in one pass, without payloads. */
export interface Tally {
  /** @param recording name for users */
  begin(fold: Fold, recording: string): Counting
  groups(): readonly Group[]
  readonly gate: Readonly<GateCounts>
  /** Tools listed by a server but never called. */
  neverCalled(): readonly { readonly server: string; readonly tool: string }[]
}

interface Counting {
  take(record: TapeRecord, rows: Rows): void
  /** Takes a message without a record. */
  plain(message: PlainRow, row: number): void
  end(): void
}

/** A request of a client. */
interface Asked {
  readonly method: string
  readonly subject: string
  /** Wall clock from the tape. */
  t(): string
  conversation(): string
  /** Equal for repeated calls. */
  key(): CallKey
}

interface Call {
  readonly row: number
  readonly group: Group
  failed: boolean
}

/** A response that only wiretape received tells no client what the server offers. */
const noText = (): string => ''

/** Longer tool lists are not parsed. */
const longestList = 16 * 1024 * 1024

/** @param sinceMs skips earlier calls */
export function createTally(by: Grouping, sinceMs = -Infinity): Tally {
  /** By server, then by name. */
  const groups = new Map<string | null, Map<string, Group>>()
  const all: Group[] = []
  const listed = new Map<string, Set<string>>()
  const called = new Map<string, Set<string>>()
  const gate: GateCounts = { held: 0, modified: 0, dropped: 0, answeredHere: 0, injected: 0 }

  function groupOf(name: string, server: string | null): Group {
    const ofServer = groups.get(server)
    const known = ofServer?.get(name)
    if (known) return known
    const group: Group = {
      name: detach(name),
      server: server === null ? null : detach(server),
      calls: 0,
      errors: 0,
      durations: createDurations(),
      waitedUs: 0,
      requestBytes: 0,
      responseBytes: 0,
      retries: 0,
      cancelled: 0,
      unanswered: 0,
    }
    all.push(group)
    if (ofServer) ofServer.set(group.name, group)
    else groups.set(group.server, new Map([[group.name, group]]))
    return group
  }

  function begin(fold: Fold, recording: string): Counting {
    const { entries, sessions } = fold
    const open = new Map<number, Call>()
    const lists = new Set<number>()
    const held: Rows[] = []
    /** Responses that created a task: its end comes later. */
    const tasks: { readonly row: number; readonly group: Group }[] = []
    const clients = new Map<string, string>()
    let before = createEarlierCalls<Call>()
    /** By session, since a server may send its name later. */
    const tools: { readonly listed: Set<string>; readonly called: Set<string> }[] = []
    const toolsNow = (): (typeof tools)[number] =>
      (tools[Math.max(0, sessions.length - 1)] ??= { listed: new Set(), called: new Set() })

    const server = (): string => sessions.at(-1)?.server?.name ?? sessions.at(-1)?.label ?? ''
    const clientOf = (conversation: string): string =>
      clients.get(conversation) ?? sessions.at(-1)?.client?.name ?? ''

    function groupFor(asked: Asked): Group {
      const { method, subject } = asked
      switch (by) {
        case 'tool':
          return groupOf(subject, server())
        case 'method':
          return groupOf(method, server())
        case 'server':
          return groupOf(server(), null)
        case 'client':
          return groupOf(clientOf(asked.conversation()), null)
        case 'day':
          return groupOf(dayOf(asked.t()), null)
      }
    }

    function takeRequest(asked: Asked, row: number): void {
      const { method, subject } = asked
      if (method === 'tools/list') lists.add(row)
      if (method === 'tools/call') remember(toolsNow().called, subject)
      if (by !== 'method' && method !== 'tools/call') return
      if (sinceMs > -Infinity && Date.parse(asked.t()) < sinceMs) return
      const group = groupFor(asked)
      const call = { row, group, failed: false }
      group.calls += 1
      group.requestBytes += entries.size(row)
      open.set(row, call)
      if (method !== 'tools/call') return
      const key = asked.key()
      const earlier = before.get(key)
      if (earlier && (earlier.failed || entries.has(earlier.row, 'cancelled'))) group.retries += 1
      before.set(key, call)
    }

    function takeAnswer(isError: boolean, text: () => string, row: number): void {
      const request = entries.peer(row)
      if (lists.size > 0 && lists.delete(request)) listTools(text(), toolsNow().listed)
      const call = open.get(request)
      if (!call || entries.has(row, 'late')) return
      open.delete(request)
      const { group } = call
      group.responseBytes += entries.size(row)
      call.failed = isError || entries.has(row, 'toolError')
      if (call.failed) group.errors += 1
      if (entries.has(request, 'cancelled')) group.cancelled += 1
      if (entries.taskUs(row) > 0) tasks.push({ row, group })
      else addLatency(group, row)
    }

    function addLatency(group: Group, row: number): void {
      const us = entries.latencyUs(row)
      if (us === undefined) return
      group.waitedUs += entries.waitedUs(row)
      if (us > (group.durations.slowestUs ?? -1))
        group.slowest = { recording, sequence: entries.seq(row), us }
      group.durations.add(us)
    }

    function noteGate(record: MessageRecord | HeldRecord, rows: Rows): void {
      const isHeld = record.type === 'held'
      if (!isHeld && record.modified !== true && record.injected !== true) return
      if (Date.parse(record.t) < sinceMs) return
      if (isHeld) held.push(rows)
      else if (record.modified) gate.modified += rows.count
      if (!isHeld && record.injected) gate.injected += rows.count
    }

    function endGate(): void {
      for (const { first, count } of held) {
        gate.held += count
        for (let row = first; row < first + count; row += 1) {
          if (isAnsweredHere(entries, row)) gate.answeredHere += 1
          else if (entries.has(row, 'dropped')) gate.dropped += 1
        }
      }
    }

    return {
      take(record, rows) {
        const { first } = rows
        if (isFrameRecord(record)) noteGate(record, rows)
        if (record.type === 'meta') before = createEarlierCalls<Call>()
        if (record.type === 'dropped') {
          const row = fold.rowOf(record.id)
          if (row >= 0 && isOwnAnswer(entries, row)) takeAnswer(entries.kind(row) === 'error', noText, row)
        }
        if (record.type !== 'message') return
        for (const [i, part] of record.parts.entries()) {
          const { envelope } = part
          if (envelope.peer && record.direction === fromClient)
            clients.set(detach(record.conversation ?? ''), detach(envelope.peer.name))
          if (envelope.kind === 'request' && record.direction === fromClient)
            takeRequest(askedIn(record, part), first + i)
          else if (isAnswer(envelope)) {
            const text = (): string => record.raw.slice(part.start, part.end)
            takeAnswer(envelope.kind === 'error', text, first + i)
          }
        }
      },
      plain(message, row) {
        const { kind, fromServer } = message
        if (kind === 'request') {
          if (!fromServer) takeRequest(new PlainAsked(message), row)
        } else if (kind !== 'notification') takeAnswer(kind === 'error', () => rawOf(message), row)
      },
      end() {
        endGate()
        for (const { row, group } of tasks) addLatency(group, row)
        tools.forEach(({ listed: offered, called: used }, i) => {
          const session = sessions[i]
          const name = session?.server?.name ?? session?.label ?? ''
          for (const tool of offered) named(listed, name).add(tool)
          for (const tool of used) named(called, name).add(tool)
        })
        for (const { row, group } of open.values()) {
          if (entries.has(row, 'cancelled')) group.cancelled += 1
          else group.unanswered += 1
        }
      },
    }
  }

  return {
    begin,
    groups: () => all,
    gate,
    neverCalled: () =>
      [...listed].flatMap(([server, tools]) =>
        [...tools].filter((tool) => !called.get(server)?.has(tool)).map((tool) => ({ server, tool })),
      ),
  }
}

const fromClient: Direction = 'client_to_server'

function named(sets: Map<string, Set<string>>, name: string): Set<string> {
  const known = sets.get(name)
  if (known) return known
  const made = new Set<string>()
  sets.set(name, made)
  return made
}

function remember(set: Set<string>, value: string): void {
  if (!set.has(value)) set.add(detach(value))
}

function askedIn({ t, conversation = '' }: MessageRecord, { envelope }: Part): Asked {
  const { method = '', subject = '', argumentsText = '' } = envelope
  const key = (): CallKey => {
    beginKey()
    for (const text of [conversation, subject, argumentsText]) {
      const bytes = utf8.encode(text)
      addToKey(bytes, 0, bytes.length)
    }
    return endKey()
  }
  return { method, subject, t: () => t, conversation: () => conversation, key }
}

class PlainAsked implements Asked {
  readonly method: string
  readonly subject: string
  readonly #message: PlainRow

  constructor(message: PlainRow) {
    this.method = message.method
    this.subject = message.subject
    this.#message = message
  }

  t(): string {
    const { bytes, line } = this.#message
    return textAt(bytes, line.timeStart, line.timeEnd)
  }

  conversation(): string {
    return this.#message.conversation
  }

  key(): CallKey {
    const { bytes, line } = this.#message
    beginKey()
    addToKey(bytes, line.conversationStart, line.conversationEnd)
    addToKey(bytes, line.subjectStart, line.subjectEnd)
    addToKey(bytes, line.argumentsStart, line.argumentsEnd)
    return endKey()
  }
}

const utf8 = new TextEncoder()

function rawOf({ bytes, line: { rawStart, rawEnd } }: PlainRow): string {
  return textAt(bytes, rawStart, rawEnd)
}

function textAt({ buffer, byteOffset }: Uint8Array, start: number, end: number): string {
  return Buffer.from(buffer, byteOffset + start, end - start).toString()
}

/** Local day, as for `LABEL@yesterday`. */
function dayOf(t: string): string {
  const at = new Date(t)
  if (Number.isNaN(at.getTime())) return 'unknown'
  const two = (number: number): string => `${number}`.padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

function listTools(json: string, into: Set<string>): void {
  if (json.length > longestList) return
  try {
    const { result } = JSON.parse(json) as { result?: { tools?: unknown } }
    const tools: readonly unknown[] = Array.isArray(result?.tools) ? result.tools : []
    for (const tool of tools) {
      if (typeof tool === 'object' && tool !== null && 'name' in tool && typeof tool.name === 'string')
        into.add(tool.name)
    }
  } catch {
    // Forwarded text that is not JSON lists no tools.
  }
}
