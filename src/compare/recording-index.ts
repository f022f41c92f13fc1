import {
  createFold,
  isAnswer,
  type Direction,
  type EntryTable,
  type MessageRecord,
  type Session,
  type TapeRecord,
} from '../model/index.js'
import { idKey, memberOf, membersOf } from '../wire/index.js'
import { createClientValues } from './client-values.js'
import { createOffers, tellsOffers, type Offers } from './offers.js'
import { paramsKey } from './request-key.js'
import { taskPoll, taskStatus } from './task-places.js'
import { createTaskRequests, keyOfPoll } from './task-requests.js'
import type { RunSide, Use } from './varying.js'

/** Subject of a request: `tools/call search`. */
export interface Subject {
  readonly method: string
  /** Tool or prompt name, resource URI. */
  readonly name?: string
  /** Direction of the request. */
  readonly direction: Direction
}

/** Index for comparing a recording: about 100 bytes per message, without payloads. */
export interface RecordingIndex {
  readonly sessions: readonly Session[]
  readonly entries: EntryTable
  readonly offers: Offers
  /** How often the server process was replaced. */
  readonly restarts: number
  /** Rows of the requests of both sides, in the order they were sent. */
  readonly requests: Int32Array
  /** Index into `subjects`, for the row of a request. */
  subjectOf(row: number): number
  readonly subjects: readonly Subject[]
  /** Two hashes of the request's content; equal for equivalent requests. */
  key(row: number): readonly [number, number]
  /** Whether it polled a task that was still working. */
  foundWorking(row: number): boolean
  /** Whether the request contains redacted values. */
  hasSecrets(row: number): boolean
  /** Response time of the other side; undefined if the recording has no times. */
  latencyUs(answer: number): number | undefined
  /** State of the run at the response in this row. */
  runAt(answer: number): RunSide
  /** The caller's locator of the row's record, and the row's part of that record. */
  place(row: number): { readonly locator: number; readonly part: number }
}

export interface RecordingIndexer {
  /**
   * Indexes the next record, in file order.
   *
   * @param locator identifies the record later
   * @returns the rows of its messages, `first` to `first + count - 1`
   */
  take(record: TapeRecord, locator: number): { readonly first: number; readonly count: number }
  /** The finished index; call once. */
  finish(): RecordingIndex
}

/** @param options.clientKeys hash the client's requests; not needed to only follow a client. @default true */
export function createRecordingIndex(options: { readonly clientKeys?: boolean } = {}): RecordingIndexer {
  return new RequestIndex(options)
}

class RequestIndex implements RecordingIndexer {
  readonly #clientKeys
  readonly #fold = createFold(idKey)
  readonly #offers = createOffers()
  readonly #subjects: Subject[] = []
  readonly #subjectNumbers = new Map<string, number>()
  readonly #tasks = createTaskRequests()
  readonly #clientValues = createClientValues()
  #restarts = 0
  /** Start of each session: its first row, and its time. */
  readonly #starts: { readonly row: number; readonly atMs: number }[] = []
  #locators = new Float64Array(256)
  #parts = new Uint16Array(256)
  #subjectColumn = new Int32Array(256)
  #first = new Int32Array(256)
  #second = new Int32Array(256)
  /** Bit 1: contains secrets; bit 2: requests a further page; bit 3: polled a working task. */
  #flags = new Uint8Array(256)

  constructor(options: { readonly clientKeys?: boolean } = {}) {
    const { clientKeys = true } = options
    this.#clientKeys = clientKeys
  }

  take(record: TapeRecord, locator: number): { readonly first: number; readonly count: number } {
    const added = this.#fold.push(record)
    if (record.type === 'note' && record.restart) this.#restarts += 1
    if (record.type === 'meta' && (record.wiretape?.segment ?? 0) === 0)
      this.#starts.push({ row: added.first, atMs: Date.parse(record.startedAt) })
    for (let i = 0; i < added.count; i += 1) {
      const row = added.first + i
      this.#room(row)
      this.#locators[row] = locator
      if (record.type !== 'message') continue
      this.#parts[row] = i
      const { envelope } = record.parts[i]!
      if (envelope.kind === 'request') this.#takeRequest(record, i, row)
      else if (isAnswer(envelope) && record.direction === 'server_to_client') {
        const request = this.#fold.entries.peer(row)
        if (request >= 0) this.#takeAnswer(record, i, request)
      }
    }
    return added
  }

  finish(): RecordingIndex {
    const { entries, sessions } = this.#fold
    // A dropped request never reached its receiver.
    const isAsked = (row: number): boolean => entries.kind(row) === 'request' && !entries.has(row, 'dropped')
    let count = 0
    for (let row = 0; row < entries.length; row += 1) if (isAsked(row)) count += 1
    // In a format without times, all messages have the same time.
    let hasTimes = false
    for (let row = 1; row < entries.length && !hasTimes; row += 1)
      hasTimes = entries.us(row) !== entries.us(row - 1)
    const requests = new Int32Array(count)
    for (let row = 0, i = 0; row < entries.length; row += 1) if (isAsked(row)) requests[i++] = row
    return {
      sessions,
      entries,
      offers: this.#offers,
      restarts: this.#restarts,
      requests,
      subjects: this.#subjects,
      subjectOf: (row) => this.#subjectColumn[row]!,
      key: (row) => [this.#first[row]!, this.#second[row]!],
      foundWorking: (row) => (this.#flags[row]! & 4) !== 0,
      hasSecrets: (row) => (this.#flags[row]! & 1) !== 0,
      runAt: (answer) => {
        const uses = (value: string): Use => this.#clientValues.useOf(value, answer)
        const us = entries.us(answer)
        if (!hasTimes || Number.isNaN(us)) return { uses }
        const atMs = (this.#starts.findLast(({ row }) => row <= answer)?.atMs ?? NaN) + us / 1_000
        const latencyUs = entries.latencyUs(answer)
        return {
          uses,
          ageMs: us / 1_000,
          ...(!Number.isNaN(atMs) && { atMs }),
          ...(latencyUs !== undefined && { latencyMs: latencyUs / 1_000 }),
        }
      },
      latencyUs: (answer) => (hasTimes ? entries.latencyUs(answer) : undefined),
      place: (row) => ({ locator: this.#locators[row]!, part: this.#parts[row]! }),
    }
  }

  #room(row: number): void {
    if (row < this.#locators.length) return
    const size = Math.max(row + 1, this.#locators.length + (this.#locators.length >> 1))
    this.#locators = extended(this.#locators, new Float64Array(size))
    this.#parts = extended(this.#parts, new Uint16Array(size))
    this.#subjectColumn = extended(this.#subjectColumn, new Int32Array(size))
    this.#first = extended(this.#first, new Int32Array(size))
    this.#second = extended(this.#second, new Int32Array(size))
    this.#flags = extended(this.#flags, new Uint8Array(size))
  }

  #subjectNumber(method: string, name: string | undefined, direction: Direction): number {
    const key = JSON.stringify([direction, method, name])
    let number = this.#subjectNumbers.get(key)
    if (number === undefined) {
      number = this.#subjects.length
      this.#subjects.push({ method, direction, ...(name !== undefined && { name }) })
      this.#subjectNumbers.set(key, number)
    }
    return number
  }

  #takeRequest(record: MessageRecord, i: number, row: number): void {
    const { envelope, start, end } = record.parts[i]!
    const method = envelope.method ?? ''
    const text = record.raw.slice(start, end)
    const redacted = marksOf(record, i)
    const isHashed = this.#clientKeys || record.direction === 'server_to_client'
    const key = isHashed
      ? this.#tasks.keyOf(record.conversation, envelope, requestHashes(text, method, redacted))
      : ([0, 0] as const)
    if (record.direction === 'client_to_server' && mayHaveValues(text)) {
      const params = memberOf(membersOf(text, 0), 'params')
      if (params) this.#clientValues.take(row, text.slice(0, params.end), params.start)
    }
    // The id of a task or a state is valid in one run only.
    const name = envelope.subject === envelope.taskId ? undefined : envelope.subject
    this.#subjectColumn[row] = this.#subjectNumber(method, name, record.direction)
    this.#first[row] = key[0]
    this.#second[row] = key[1]
    this.#flags[row] =
      (redacted.length > 0 ? 1 : 0) | (tellsOffers(method) && text.includes('"cursor"') ? 2 : 0)
  }

  #takeAnswer(record: MessageRecord, i: number, request: number): void {
    const { raw, conversation } = record
    const { envelope, start, end } = record.parts[i]!
    const method = this.#subjects[this.#subjectColumn[request]!]?.method ?? ''
    if (tellsOffers(method)) {
      const goesOn = (this.#flags[request]! & 2) !== 0
      const redacted = marksOf(record, i).map(({ at }) => at)
      return this.#offers.take(method, raw.slice(start, end), goesOn, { request, conversation, redacted })
    }
    const isPoll = method === taskPoll
    if (!this.#clientKeys || !(isPoll || envelope.createsTask)) return
    const key = [this.#first[request]!, this.#second[request]!] as const
    this.#tasks.began(conversation, envelope, key)
    if (!isPoll) return
    const text = raw.slice(start, end)
    if (taskStatus(text) === 'working') this.#flags[request]! |= 4
    ;[this.#first[request], this.#second[request]] = keyOfPoll(key, text)
  }
}

/** Requests such as those that open a conversation contain no identifiers of the server. */
function mayHaveValues(request: string): boolean {
  return request.startsWith('{') && /"(?:arguments|uri)"/.test(request)
}

/** Subject of the request in a row. */
export function subjectAt(index: RecordingIndex, row: number): Subject {
  return index.subjects[index.subjectOf(row)]!
}

/** Two hashes of a request's content, equal in every run. */
export function requestHashes(
  text: string,
  method: string,
  redacted: readonly { readonly at: string; readonly tag: string }[] = [],
): readonly [number, number] {
  const key = paramsKey(text, method, { redacted, secrets: 'any', opaque: 'any' })
  return [hash(key, 0x811c9dc5), hash(key, 0x9747b28c)]
}

/** JSON Pointers to the redacted values in one message of a record, relative to that message. */
export function marksOf(record: MessageRecord, part: number): readonly { at: string; tag: string }[] {
  const { red, batch } = record
  if (!red) return []
  if (!batch) return red
  const prefix = `/${part}/`
  return red
    .filter(({ at }) => at.startsWith(prefix))
    .map(({ at, tag }) => ({ at: at.slice(prefix.length - 1), tag }))
}

function extended<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from)
  return to
}

/** FNV-1a with a final mix (murmur3's), seeded. */
function hash(text: string, seed: number): number {
  let h = seed
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}
