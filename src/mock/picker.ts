import { taskPoll } from '../compare/index.js'
import { createIntColumn, setRow, type Envelope } from '../model/index.js'
import { redactionMarker } from '../redaction/index.js'
import { readEnvelope } from '../wire/index.js'
import { callKey, roundKey, shortKey } from './call-index.js'
import type { Play } from './play.js'
import { matchRedacted } from './redacted-call.js'
import { noRow } from './script.js'

/** What of the recording fits a call of the client. */
export type Choice =
  | { readonly kind: 'found'; readonly row: number }
  /** It was recorded, and every recorded answer was given; `row` was the last. */
  | { readonly kind: 'spent'; readonly row: number; readonly times: number }
  | { readonly kind: 'unknown' }

/** Nothing was put there. */
const unset = -2

/** Messages between two polls that are looked at. */
const mostBetweenPolls = 1_000

/** Which recorded call or note stands for the next one of a client. State of one live conversation. */
export interface Picker {
  /** The recorded call whose answer this one would get, or `noRow`. */
  fits(text: string, envelope: Envelope): number
  call(text: string, envelope: Envelope): Choice
  /** A notification: the recorded one, or `noRow`. */
  note(text: string, envelope: Envelope): number
  /** The call was answered by asking for more; `answer` as it was sent. */
  askedForMore(row: number, callText: string, callEnvelope: Envelope, answer: Envelope): void
  /** Values for redacted places, by tag, as exact JSON text. */
  readonly secrets: Map<string, string>
}

/**
 * Equal calls get their answers in the order of the recording: first those of the recorded conversation that the
 * client stands in, and what that does not have at all from the others.
 *
 * @param own number of the recorded conversation
 */
export function createPicker(play: Play, own: number, repeatLast: boolean): Picker {
  const { script, calls } = play
  const secrets = new Map<string, string>()
  /** By row: 1 for those that are taken. */
  const taken = createIntColumn(0)
  /** By the first row with a key: the first that may not be taken yet. Rows before it are taken, or another conversation's. */
  const positions = { own: createIntColumn(unset), foreign: createIntColumn(unset) }
  /** By the first row with a key, the row that was taken last; by key where no row has it. */
  const lastTaken = createIntColumn(noRow)
  const lastTakenUnlike = new Map<string, number>()
  /** By method: rows before this one of those that were redacted are taken. */
  const redactedFrom = new Map<string, number>()
  /** Rounds that wait for their retry: by the state that was given out, or by what was asked. */
  const rounds = new Map<string, number[]>()

  const isTaken = (row: number): boolean => taken.get(row) === 1 || calls.isLeftOut(row)
  // Without sessions, connections are all that the recording tells apart, and a client has several of them.
  const isOwn = (row: number): boolean => play.sessions === false || script.conversation(row) === own

  /** The next row of the key in the own conversation, or in the others where that has none. */
  function nextOf(first: number, inOwn: boolean): number {
    const position = inOwn ? positions.own : positions.foreign
    let row = position.get(first)
    if (row === unset) row = first
    while (row !== noRow && (isTaken(row) || isOwn(row) !== inOwn)) row = calls.next(row)
    setRow(position, first, row)
    return row
  }

  function has(first: number, inOwn: boolean): boolean {
    for (let row = first; row !== noRow; row = calls.next(row)) {
      if (isOwn(row) === inOwn && !calls.isLeftOut(row)) return true
    }
    return false
  }

  function take(key: string, row: number, text: string): number {
    setRow(taken, row, 1)
    const first = calls.first(key)
    if (first === noRow) lastTakenUnlike.set(key, row)
    else setRow(lastTaken, first, row)
    if (rounds.size > 0) endRound(row)
    bind(row, text)
    return row
  }

  function lastOf(key: string): number {
    const first = calls.first(key)
    return first === noRow ? (lastTakenUnlike.get(key) ?? noRow) : lastTaken.get(first)
  }

  function exact(key: string): number {
    const first = calls.first(key)
    if (first === noRow) return noRow
    const row = nextOf(first, true)
    if (row !== noRow || has(first, true)) return row
    return nextOf(first, false)
  }

  /** @param strict a tag has one value, `secrets` says which; else a redacted value may be anything */
  function redacted(text: string, method: string, strict: boolean, again = false): number {
    const known = strict ? secrets : new Map<string, string>()
    let foreign = noRow
    let last = noRow
    const rows = calls.redacted(method)
    let from = again ? 0 : (redactedFrom.get(method) ?? 0)
    while (!again && from < rows.length && isTaken(rows[from]!)) from += 1
    if (!again) redactedFrom.set(method, from)
    for (let i = from; i < rows.length; i += 1) {
      const row = rows[i]!
      if (calls.isLeftOut(row) || (taken.get(row) === 1) !== again || (foreign !== noRow && !isOwn(row)))
        continue
      const found = matchRedacted({ text: script.text(row), marks: script.marks(row) }, text, known)
      if (!found) continue
      if (again) last = row
      else if (isOwn(row)) return row
      else foreign = row
    }
    return again ? last : foreign
  }

  /** Keeps what the live call has in the place of redacted values. */
  function bind(row: number, text: string): void {
    const marks = script.marks(row)
    if (marks.length === 0) return
    const found = matchRedacted({ text: script.text(row), marks }, text, new Map()) ?? []
    for (const [tag, value] of found) if (!secrets.has(tag)) secrets.set(tag, value)
  }

  function round(text: string, envelope: Envelope): number {
    const { requestState, inputResponses } = envelope
    if (requestState === undefined && inputResponses === undefined) return noRow
    const key = keyOfRound(requestState, text, envelope)
    const before = rounds.get(key)?.[0] ?? noRow
    return before === noRow ? noRow : script.nextRound(before)
  }

  /** The retry has come. */
  function endRound(row: number): void {
    for (const [key, waiting] of rounds) {
      const at = waiting.findIndex((before) => script.nextRound(before) === row)
      if (at < 0) continue
      waiting.splice(at, 1)
      if (waiting.length === 0) rounds.delete(key)
      return
    }
  }

  function find(text: string, envelope: Envelope, key: string): number {
    const { method = '' } = envelope
    const later = round(text, envelope)
    if (later !== noRow) return later
    const row = exact(key)
    if (row !== noRow || calls.redacted(method).length === 0) return row
    const byTag = redacted(text, method, true)
    return byTag === noRow ? redacted(text, method, false) : byTag
  }

  /** The task went on when its client had said or asked for something, which it has not yet. */
  function isHeldUp(told: number, row: number, taskId: string | undefined): boolean {
    for (let between = told + 1; between < row && between < told + mostBetweenPolls; between += 1) {
      if (script.kind(between) !== 'call' || isTaken(between)) continue
      const call = readEnvelope(script.text(between), 0)
      if (call.taskId === taskId && call.method !== taskPoll && call.method?.startsWith('tasks/')) return true
    }
    return false
  }

  function timesOf(key: string): number {
    let times = 0
    for (let row = calls.first(key); row !== noRow; row = calls.next(row))
      if (taken.get(row) === 1) times += 1
    return Math.max(1, times)
  }

  return {
    secrets,
    fits: (text, envelope) => find(text, envelope, shortKey(callKey(text, envelope.method ?? ''))),
    call(text, envelope) {
      const { method = '' } = envelope
      const key = shortKey(callKey(text, method))
      const row = find(text, envelope, key)
      const told = lastOf(key)
      const isEarly = method === taskPoll && told !== noRow && isHeldUp(told, row, envelope.taskId)
      if (row !== noRow && !isEarly) return { kind: 'found', row: take(key, row, text) }
      const before = told === noRow ? redacted(text, method, false, true) : told
      if (before === noRow) return { kind: 'unknown' }
      // How often a client polls is up to it.
      return repeatLast || method === taskPoll
        ? { kind: 'found', row: before }
        : { kind: 'spent', row: before, times: timesOf(key) }
    },
    note(text, envelope) {
      const key = shortKey(callKey(text, envelope.method ?? ''))
      const row = find(text, envelope, key)
      return row === noRow ? noRow : take(key, row, text)
    },
    askedForMore(row, callText, callEnvelope, answer) {
      const key = keyOfRound(answer.requestState, callText, callEnvelope)
      const waiting = rounds.get(key)
      if (waiting) waiting.push(row)
      else rounds.set(key, [row])
    },
  }
}

/** States that redaction took out look alike: then the call itself tells its retry. */
function keyOfRound(state: string | undefined, callText: string, { method = '' }: Envelope): string {
  const isKnown = state !== undefined && state !== redactionMarker
  return shortKey(isKnown ? `state ${state}` : roundKey(callText, method))
}
