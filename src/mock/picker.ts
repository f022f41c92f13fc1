import { taskPoll } from '../compare/index.js'
import { createIntColumn, setRow, type Envelope } from '../model/index.js'
import { redactionMarker } from '../redaction/index.js'
import { readEnvelope } from '../wire/index.js'
import { callKey, roundKey, shortKey } from './call-index.js'
import type { Play } from './play.js'
import { matchRedacted } from './redacted-call.js'
import { noRow } from './script.js'

/** The recorded match for a call of the client. */
export type Choice =
  | { readonly kind: 'found'; readonly row: number }
  /** It was recorded, and every recorded response was sent; `row` was the last call. */
  | { readonly kind: 'spent'; readonly row: number; readonly times: number }
  | { readonly kind: 'unknown' }

/** Not yet set. */
const unset = -2

/** Number of messages between two polls that are searched. */
const mostBetweenPolls = 1_000

/** Matches the next call or notification of a client with a recorded one. State of one live conversation. */
export interface Picker {
  /** The recorded call whose response this one would get, or `noRow`. */
  fits(text: string, envelope: Envelope): number
  call(text: string, envelope: Envelope): Choice
  /** The recorded match of a notification, or `noRow`. */
  note(text: string, envelope: Envelope): number
  /** The call got a response that requires more input; `answer` as it was sent. */
  askedForMore(row: number, callText: string, callEnvelope: Envelope, answer: Envelope): void
  /** Values for redacted places, by tag, as exact JSON text. */
  readonly secrets: Map<string, string>
}

/**
 * Equal calls get their responses in the order of the recording: first from the recorded conversation that the client
 * follows; calls entirely missing there come from the others.
 *
 * @param own number of the recorded conversation
 */
export function createPicker(play: Play, own: number, repeatLast: boolean): Picker {
  return new AnswerPicker(play, own, repeatLast)
}

class AnswerPicker implements Picker {
  readonly #play: Play
  readonly #own: number
  readonly #repeatLast: boolean
  readonly #script
  readonly #calls
  readonly #secrets = new Map<string, string>()
  /** By row: 1 for taken rows. */
  readonly #taken = createIntColumn(0)
  /** By the first row with a key: the first row that may be free. Earlier ones are taken, or another conversation's. */
  readonly #positions = { own: createIntColumn(unset), foreign: createIntColumn(unset) }
  /** By the first row with a key, the row taken last; by key if no row has it. */
  readonly #lastTaken = createIntColumn(noRow)
  readonly #lastTakenUnlike = new Map<string, number>()
  /** By method: all redacted rows before this one are taken. */
  readonly #redactedFrom = new Map<string, number>()
  /** Rounds that await their retry: by the state sent to the client, or by the content of the call. */
  readonly #rounds = new Map<string, number[]>()
  readonly #isTaken = (row: number): boolean => this.#taken.get(row) === 1 || this.#calls.isLeftOut(row)

  // Without sessions the recording can only separate connections, and a client has several of them.
  readonly #isOwn = (row: number): boolean =>
    this.#play.sessions === false || this.#script.conversation(row) === this.#own

  constructor(play: Play, own: number, repeatLast: boolean) {
    this.#play = play
    this.#own = own
    this.#repeatLast = repeatLast
    const { script, calls } = play
    this.#script = script
    this.#calls = calls
  }

  get secrets(): Map<string, string> {
    return this.#secrets
  }

  fits(text: string, envelope: Envelope): number {
    return this.#find(text, envelope, shortKey(callKey(text, envelope.method ?? '')))
  }

  call(text: string, envelope: Envelope): Choice {
    const { method = '' } = envelope
    const key = shortKey(callKey(text, method))
    const row = this.#find(text, envelope, key)
    const told = this.#lastOf(key)
    const isEarly = method === taskPoll && told !== noRow && this.#isHeldUp(told, row, envelope.taskId)
    if (row !== noRow && !isEarly) return { kind: 'found', row: this.#take(key, row, text) }
    const before = told === noRow ? this.#redacted(text, method, false, true) : told
    if (before === noRow) return { kind: 'unknown' }
    // The number of polls is up to the client.
    return this.#repeatLast || method === taskPoll
      ? { kind: 'found', row: before }
      : { kind: 'spent', row: before, times: this.#timesOf(key) }
  }

  note(text: string, envelope: Envelope): number {
    const key = shortKey(callKey(text, envelope.method ?? ''))
    const row = this.#find(text, envelope, key)
    return row === noRow ? noRow : this.#take(key, row, text)
  }

  askedForMore(row: number, callText: string, callEnvelope: Envelope, answer: Envelope): void {
    const key = keyOfRound(answer.requestState, callText, callEnvelope)
    const waiting = this.#rounds.get(key)
    if (waiting) waiting.push(row)
    else this.#rounds.set(key, [row])
  }

  /** The next row of the key in the own conversation, or in the others if that one has none. */
  #nextOf(first: number, inOwn: boolean): number {
    const position = inOwn ? this.#positions.own : this.#positions.foreign
    let row = position.get(first)
    if (row === unset) row = first
    while (row !== noRow && (this.#isTaken(row) || this.#isOwn(row) !== inOwn)) row = this.#calls.next(row)
    setRow(position, first, row)
    return row
  }

  #has(first: number, inOwn: boolean): boolean {
    for (let row = first; row !== noRow; row = this.#calls.next(row)) {
      if (this.#isOwn(row) === inOwn && !this.#calls.isLeftOut(row)) return true
    }
    return false
  }

  #take(key: string, row: number, text: string): number {
    setRow(this.#taken, row, 1)
    const first = this.#calls.first(key)
    if (first === noRow) this.#lastTakenUnlike.set(key, row)
    else setRow(this.#lastTaken, first, row)
    if (this.#rounds.size > 0) this.#endRound(row)
    this.#bind(row, text)
    return row
  }

  #lastOf(key: string): number {
    const first = this.#calls.first(key)
    return first === noRow ? (this.#lastTakenUnlike.get(key) ?? noRow) : this.#lastTaken.get(first)
  }

  #exact(key: string): number {
    const first = this.#calls.first(key)
    if (first === noRow) return noRow
    const row = this.#nextOf(first, true)
    if (row !== noRow || this.#has(first, true)) return row
    return this.#nextOf(first, false)
  }

  /** @param strict a tag known in `secrets` must have that value; otherwise a redacted value may be anything */
  #redacted(text: string, method: string, strict: boolean, again = false): number {
    const known = strict ? this.#secrets : new Map<string, string>()
    let foreign = noRow
    let last = noRow
    const rows = this.#calls.redacted(method)
    let from = again ? 0 : (this.#redactedFrom.get(method) ?? 0)
    while (!again && from < rows.length && this.#isTaken(rows[from]!)) from += 1
    if (!again) this.#redactedFrom.set(method, from)
    for (let i = from; i < rows.length; i += 1) {
      const row = rows[i]!
      if (
        this.#calls.isLeftOut(row) ||
        (this.#taken.get(row) === 1) !== again ||
        (foreign !== noRow && !this.#isOwn(row))
      )
        continue
      const found = matchRedacted(
        { text: this.#script.text(row), marks: this.#script.marks(row) },
        text,
        known,
      )
      if (!found) continue
      if (again) last = row
      else if (this.#isOwn(row)) return row
      else foreign = row
    }
    return again ? last : foreign
  }

  /** Keeps the values that the live call has in redacted places. */
  #bind(row: number, text: string): void {
    const marks = this.#script.marks(row)
    if (marks.length === 0) return
    const found = matchRedacted({ text: this.#script.text(row), marks }, text, new Map()) ?? []
    for (const [tag, value] of found) if (!this.#secrets.has(tag)) this.#secrets.set(tag, value)
  }

  #round(text: string, envelope: Envelope): number {
    const { requestState, inputResponses } = envelope
    if (requestState === undefined && inputResponses === undefined) return noRow
    const key = keyOfRound(requestState, text, envelope)
    const before = this.#rounds.get(key)?.[0] ?? noRow
    return before === noRow ? noRow : this.#script.nextRound(before)
  }

  /** The retry arrived. */
  #endRound(row: number): void {
    for (const [key, waiting] of this.#rounds) {
      const at = waiting.findIndex((before) => this.#script.nextRound(before) === row)
      if (at < 0) continue
      waiting.splice(at, 1)
      if (waiting.length === 0) this.#rounds.delete(key)
      return
    }
  }

  #find(text: string, envelope: Envelope, key: string): number {
    const { method = '' } = envelope
    const later = this.#round(text, envelope)
    if (later !== noRow) return later
    const row = this.#exact(key)
    if (row !== noRow || this.#calls.redacted(method).length === 0) return row
    const byTag = this.#redacted(text, method, true)
    return byTag === noRow ? this.#redacted(text, method, false) : byTag
  }

  /** The recorded task continued after a message or request of its client that has not come yet. */
  #isHeldUp(told: number, row: number, taskId: string | undefined): boolean {
    for (let between = told + 1; between < row && between < told + mostBetweenPolls; between += 1) {
      if (this.#script.kind(between) !== 'call' || this.#isTaken(between)) continue
      const call = readEnvelope(this.#script.text(between), 0)
      if (call.taskId === taskId && call.method !== taskPoll && call.method?.startsWith('tasks/')) return true
    }
    return false
  }

  #timesOf(key: string): number {
    let times = 0
    for (let row = this.#calls.first(key); row !== noRow; row = this.#calls.next(row))
      if (this.#taken.get(row) === 1) times += 1
    return Math.max(1, times)
  }
}

/** Redacted states all look alike; then the content of the call identifies its retry. */
function keyOfRound(state: string | undefined, callText: string, { method = '' }: Envelope): string {
  const isKnown = state !== undefined && state !== redactionMarker
  return shortKey(isKnown ? `state ${state}` : roundKey(callText, method))
}
