import {
  isFrameRecord,
  detach,
  hasFailed,
  isAnswer,
  isAnsweredHere,
  isForWiretape,
  isOwnAnswer,
  type Direction,
  type Fold,
  type HeldRecord,
  type MessageRecord,
  type TapeRecord,
  type Rows,
} from '../../model/index.js'
import type { PlainRow } from '../quick-load.js'
import { askedIn, PlainAsked, rawOf, type Asked } from './asked.js'
import { createEarlierCalls } from './earlier-calls.js'
import { Groups, type Group, type Grouping } from './groups.js'

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

interface Call {
  readonly row: number
  readonly group: Group
}

/** A response that only wiretape received tells no client what the server offers. */
const noText = (): string => ''

/** Longer tool lists are not parsed. */
const longestList = 16 * 1024 * 1024

/** Names of tools by server. */
type ToolNames = Map<string, Set<string>>

/** @param sinceMs skips earlier calls */
export function createTally(by: Grouping, sinceMs = -Infinity): Tally {
  const groups = new Groups()
  const listed: ToolNames = new Map()
  const called: ToolNames = new Map()
  const gate: GateCounts = { held: 0, modified: 0, dropped: 0, answeredHere: 0, injected: 0 }
  return {
    begin: (fold, recording) =>
      new RecordingCount({ by, sinceMs, groups, listed, called, gate }, fold, recording),
    groups: () => groups.list(),
    gate,
    neverCalled: () =>
      [...listed].flatMap(([server, tools]) =>
        [...tools].filter((tool) => !called.get(server)?.has(tool)).map((tool) => ({ server, tool })),
      ),
  }
}

/** Totals of all recordings, and how to group. */
interface Totals {
  readonly by: Grouping
  readonly sinceMs: number
  readonly groups: Groups
  readonly listed: ToolNames
  readonly called: ToolNames
  readonly gate: GateCounts
}

/** Counts one recording. */
class RecordingCount implements Counting {
  readonly #totals: Totals
  readonly #fold: Fold
  readonly #entries: Fold['entries']
  readonly #sessions: Fold['sessions']
  readonly #recording: string
  readonly #open = new Map<number, Call>()
  /** Rows of open `tools/list` requests. */
  readonly #lists = new Set<number>()
  readonly #held: Rows[] = []
  /** Responses that created a task: its end comes later. */
  readonly #tasks: { readonly row: number; readonly group: Group }[] = []
  /** Names of clients by conversation. */
  readonly #clients = new Map<string, string>()
  #before = createEarlierCalls<Call>()
  /** By session, since a server may send its name later. */
  readonly #tools: { readonly listed: Set<string>; readonly called: Set<string> }[] = []

  constructor(totals: Totals, fold: Fold, recording: string) {
    this.#totals = totals
    this.#fold = fold
    this.#entries = fold.entries
    this.#sessions = fold.sessions
    this.#recording = recording
  }

  take(record: TapeRecord, rows: Rows): void {
    const { first } = rows
    if (isFrameRecord(record)) this.#noteGate(record, rows)
    if (record.type === 'meta') this.#before = createEarlierCalls<Call>()
    if (record.type === 'dropped') {
      const row = this.#fold.rowOf(record.id)
      if (row >= 0 && isOwnAnswer(this.#entries, row)) this.#takeAnswer(noText, row)
    }
    if (record.type !== 'message') return
    for (const [i, part] of record.parts.entries()) {
      const { envelope } = part
      if (envelope.peer && record.direction === fromClient)
        this.#clients.set(detach(record.conversation ?? ''), detach(envelope.peer.name))
      if (envelope.kind === 'request' && record.direction === fromClient)
        this.#takeRequest(askedIn(record, part), first + i)
      else if (isAnswer(envelope)) {
        const text = (): string => record.raw.slice(part.start, part.end)
        this.#takeAnswer(text, first + i)
      }
    }
  }

  plain(message: PlainRow, row: number): void {
    const { kind, fromServer } = message
    if (kind === 'request') {
      if (!fromServer) this.#takeRequest(new PlainAsked(message), row)
    } else if (kind !== 'notification') this.#takeAnswer(() => rawOf(message), row)
  }

  end(): void {
    const { listed, called } = this.#totals
    this.#endGate()
    for (const { row, group } of this.#tasks) this.#addOutcome(group, row)
    this.#tools.forEach((tools, i) => {
      const session = this.#sessions[i]
      const name = session?.server?.name ?? session?.label ?? ''
      for (const tool of tools.listed) named(listed, name).add(tool)
      for (const tool of tools.called) named(called, name).add(tool)
    })
    for (const { row, group } of this.#open.values()) {
      if (this.#entries.has(row, 'cancelled')) group.cancelled += 1
      else group.unanswered += 1
    }
  }

  get #toolsNow(): { readonly listed: Set<string>; readonly called: Set<string> } {
    const session = Math.max(0, this.#sessions.length - 1)
    return (this.#tools[session] ??= { listed: new Set(), called: new Set() })
  }

  get #server(): string {
    const session = this.#sessions.at(-1)
    return session?.server?.name ?? session?.label ?? ''
  }

  #clientOf(conversation: string): string {
    return this.#clients.get(conversation) ?? this.#sessions.at(-1)?.client?.name ?? ''
  }

  #groupFor(asked: Asked): Group {
    const { by, groups } = this.#totals
    switch (by) {
      case 'tool':
        return groups.at(asked.subject, this.#server)
      case 'method':
        return groups.at(asked.method, this.#server)
      case 'server':
        return groups.at(this.#server, null)
      case 'client':
        return groups.at(this.#clientOf(asked.conversation()), null)
      case 'day':
        return groups.at(dayOf(asked.t()), null)
    }
  }

  #takeRequest(asked: Asked, row: number): void {
    const { by, sinceMs } = this.#totals
    const { method, subject } = asked
    if (method === 'tools/list') this.#lists.add(row)
    if (method === 'tools/call') remember(this.#toolsNow.called, subject)
    if (by !== 'method' && method !== 'tools/call') return
    if (sinceMs > -Infinity && Date.parse(asked.t()) < sinceMs) return
    const group = this.#groupFor(asked)
    const call = { row, group }
    group.calls += 1
    group.requestBytes += this.#entries.size(row)
    this.#open.set(row, call)
    if (method !== 'tools/call') return
    const key = asked.key()
    const earlier = this.#before.get(key)
    if (earlier && this.#isWrong(earlier.row)) group.retries += 1
    this.#before.set(key, call)
  }

  #takeAnswer(text: () => string, row: number): void {
    const entries = this.#entries
    const request = entries.peer(row)
    if (this.#lists.size > 0 && this.#lists.delete(request)) listTools(text(), this.#toolsNow.listed)
    const call = this.#open.get(request)
    if (!call || entries.has(row, 'late')) return
    this.#open.delete(request)
    const { group } = call
    group.responseBytes += entries.size(row)
    if (entries.has(row, 'taskOpen')) this.#tasks.push({ row, group })
    else this.#addOutcome(group, row)
  }

  #isWrong(request: number): boolean {
    const answer = this.#entries.peer(request)
    return this.#entries.has(request, 'cancelled') || (answer >= 0 && hasFailed(this.#entries, answer))
  }

  #addOutcome(group: Group, row: number): void {
    const entries = this.#entries
    if (hasFailed(entries, row) && !entries.has(row, 'repeated')) group.errors += 1
    if (entries.has(entries.peer(row), 'cancelled') || entries.has(row, 'taskCancelled')) group.cancelled += 1
    const us = entries.latencyUs(row)
    if (us === undefined) return
    group.waitedUs += entries.waitedUs(row)
    if (us > (group.durations.slowestUs ?? -1))
      group.slowest = { recording: this.#recording, sequence: entries.seq(row), us }
    group.durations.add(us)
  }

  #noteGate(record: MessageRecord | HeldRecord, rows: Rows): void {
    const { sinceMs, gate } = this.#totals
    const isHeld = record.type === 'held'
    if (!isHeld && record.modified !== true && record.injected !== true) return
    if (Date.parse(record.t) < sinceMs) return
    if (isHeld) this.#held.push(rows)
    else if (record.modified) gate.modified += rows.count
    if (!isHeld && record.injected) gate.injected += rows.count
  }

  #endGate(): void {
    const { gate } = this.#totals
    for (const { first, count } of this.#held) {
      for (let row = first; row < first + count; row += 1) {
        if (isForWiretape(this.#entries, row)) continue
        gate.held += 1
        if (isAnsweredHere(this.#entries, row)) gate.answeredHere += 1
        else if (this.#entries.has(row, 'dropped')) gate.dropped += 1
      }
    }
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
