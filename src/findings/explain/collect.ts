import {
  createRecent,
  detach,
  isAnswer,
  isUnanswered,
  type Fold,
  type HeldRecord,
  type HttpRecord,
  type MessageRecord,
  type Part,
  type Session,
  type TapeRecord,
} from '../../model/index.js'
import { taskPoll } from '../../compare/index.js'
import { at, textAt } from '../json.js'
import type { CallFacts, RowTime } from './call.js'
import {
  answerOf,
  cut,
  endText,
  fateOf,
  goodness,
  keyOf,
  momentOf,
  progressText,
  taskEndUs,
  valueOf,
} from './read-call.js'
import { requestOf } from './wrong-calls.js'

/** A row with its message, numbered as by the reader of the recording. */
export interface ReadRow {
  readonly row: number
  readonly part?: Part
}

/** Takes the records of an already folded recording, in order. */
export interface CallCollector {
  take(record: TapeRecord, rows: readonly ReadRow[]): void
  readonly calls: readonly CallFacts[]
}

/** Limit per call. */
const mostListed = 10
/** Lines of stderr kept before a response or an end. */
const stderrKept = 5

/** @param wanted rows of the requests to collect facts about */
export function createCallCollector(fold: Fold, wanted: ReadonlySet<number>): CallCollector {
  return new Collector(fold, wanted)
}

class Collector implements CallCollector {
  readonly #fold: Fold
  readonly #wanted: ReadonlySet<number>
  readonly #calls = new Map<number, CallFacts>()
  /** Calls whose wait has not ended. */
  readonly #open = new Set<CallFacts>()
  readonly #byExchange = new Map<string, CallFacts>()
  readonly #byKey = new Map<string, CallFacts[]>()
  /** Recent requests, to detect repeated ones. */
  readonly #asked = createRecent<RowTime>({ entries: 10_000 })
  readonly #polls = new Map<number, CallFacts>()
  /** By the row that ends the task. */
  readonly #taskEnds = new Map<number, CallFacts>()
  readonly #conversations = new Map<CallFacts, string | undefined>()
  #session = -1

  constructor(fold: Fold, wanted: ReadonlySet<number>) {
    this.#fold = fold
    this.#wanted = wanted
  }

  get calls(): readonly CallFacts[] {
    return [...this.#calls.values()]
  }

  take(record: TapeRecord, rows: readonly ReadRow[]): void {
    switch (record.type) {
      case 'meta':
        return this.#begin(record.wiretape?.session)
      case 'message':
      case 'held':
        for (const { row, part } of rows) if (part) this.#message(record, part, row)
        return
      case 'dropped':
        return this.#dropped(record.id, record.why, record.rule, record.us)
      case 'undelivered':
        return this.#undelivered(record.id, record.why)
      case 'http':
        return this.#http(record)
      case 'stderr':
        return this.#stderrLine(record.text, record.us)
      case 'noise':
        for (const call of this.#open) {
          if (record.direction === call.direction) continue
          call.noise ??= { count: 0, text: cut(record.text) }
          call.noise.count += 1
        }
        return
      case 'gap':
        for (const call of this.#open) {
          call.gaps ??= { count: 0, why: cut(record.why) }
          call.gaps.count += record.lost
        }
        return
      default:
    }
  }

  #begin(session: string | undefined): void {
    const { sessions } = this.#fold
    const current = sessions[this.#session]
    if (current && session !== undefined && current.id === session) return
    if (this.#session + 1 >= sessions.length) return
    this.#session += 1
    this.#open.clear()
  }

  get #current(): Session | undefined {
    return this.#fold.sessions[Math.max(0, this.#session)]
  }

  #message(record: MessageRecord | HeldRecord, part: Part, row: number): void {
    const { entries } = this.#fold
    if (part.envelope.kind === 'request') this.#request(record, part, row)
    else if (isAnswer(part.envelope)) this.#answer(record, part, row)
    else this.#notice(record, part, row)
    const seen = momentOf(entries, row)
    const ended = this.#taskEnds.get(row)
    if (ended) {
      const us = taskEndUs(entries, ended.row)
      ended.taskEnd = { ...seen, us, text: cut(endText(record, part)) }
      this.#concluded(ended)
    }
    for (const call of this.#open) {
      if (call.row === row || call.direction === record.direction) continue
      if (this.#conversations.get(call) !== record.conversation) continue
      call.otherSide = { count: (call.otherSide?.count ?? 0) + 1, last: seen }
    }
  }

  #request(record: MessageRecord | HeldRecord, part: Part, row: number): void {
    const { entries } = this.#fold
    const { method = '', subject } = part.envelope
    const about = this.#calls.get(entries.linked(row))
    if (about?.direction === record.direction) this.#follows(about, part, row)
    const key = keyOf(record, part)
    const seen = momentOf(entries, row)
    if (key !== undefined) {
      for (const call of this.#byKey.get(key) ?? []) {
        if (call.again.length >= mostListed) continue
        const answer = entries.peer(row)
        const again = { ...seen, answer: answer < 0 ? ('none' as const) : goodness(entries, answer) }
        call.again.push(again)
      }
    }
    if (this.#wanted.has(row)) {
      const call = this.#begun(record, row, detach(method), subject)
      const earlier = key === undefined ? undefined : this.#asked.get(key)
      if (earlier) call.earlier.push(earlier)
      if (key !== undefined) this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), call])
    }
    if (key !== undefined) this.#asked.set(key, seen)
  }

  #begun(
    record: MessageRecord | HeldRecord,
    row: number,
    method: string,
    subject: string | undefined,
  ): CallFacts {
    const { entries } = this.#fold
    const call: CallFacts = {
      row,
      ...momentOf(entries, row),
      direction: record.direction,
      session: this.#current,
      method,
      ...(subject !== undefined && { subject: cut(subject) }),
      ...(record.http && { exchange: record.http.exchange }),
      ...(record.rule !== undefined && { rule: cut(record.rule) }),
      isModified: entries.has(row, 'modified'),
      isInjected: entries.has(row, 'injected'),
      heldUs: entries.heldUs(row),
      fate: fateOf(entries, row),
      isCancelled: entries.has(row, 'cancelled'),
      isDuplicate: entries.has(row, 'duplicate'),
      isUnanswered: isUnanswered(entries, row),
      isStream: entries.has(row, 'stream'),
      answers: [],
      cancels: [],
      progress: undefined,
      polls: undefined,
      taskEnd: undefined,
      taskCancel: undefined,
      rounds: [],
      earlier: [],
      again: [],
      http: [],
      stderr: [],
      stderrCount: 0,
      noise: undefined,
      gaps: undefined,
      otherSide: undefined,
    }
    this.#calls.set(row, call)
    this.#open.add(call)
    this.#conversations.set(call, record.conversation)
    // A server's request is a part of an HTTP response, whose end concerns another request.
    if (record.http && record.direction === 'client_to_server')
      this.#byExchange.set(`${this.#session} ${record.http.exchange}`, call)
    return call
  }

  /** Takes a request that belongs to another one: a poll of its task, or its next round. */
  #follows(call: CallFacts, part: Part, row: number): void {
    const seen = momentOf(this.#fold.entries, row)
    const { method = '' } = part.envelope
    if (method.startsWith('tasks/')) {
      call.polls ??= { count: 0, last: seen }
      if (method === taskPoll) call.polls.count += 1
      call.polls.last = seen
      if (method === 'tasks/cancel') call.taskCancel ??= seen
      this.#polls.set(this.#fold.entries.peer(row), call)
    } else if (call.rounds.length < mostListed) call.rounds.push(seen)
  }

  #answer(record: MessageRecord | HeldRecord, part: Part, row: number): void {
    const { entries } = this.#fold
    const poll = this.#polls.get(row)
    if (poll?.polls) {
      const status = textAt(valueOf(record, part), 'result', 'status')
      if (status !== undefined) poll.polls.status = cut(status)
    }
    const call = this.#calls.get(requestOf(this.#fold, row))
    if (!call || call.answers.length >= mostListed) return
    const answer = answerOf(entries, record, part, row)
    call.answers.push(answer)
    if (answer.task === undefined) return this.#concluded(call)
    const end = entries.taskEnd(row)
    if (end >= 0) this.#taskEnds.set(end, call)
  }

  #notice(record: MessageRecord | HeldRecord, part: Part, row: number): void {
    const { entries } = this.#fold
    const call = this.#calls.get(entries.linked(row))
    if (!call) return
    const seen = momentOf(entries, row)
    const { method } = part.envelope
    const params = at(valueOf(record, part), 'params')
    if (method === 'notifications/cancelled') {
      const reason = textAt(params, 'reason')
      if (call.cancels.length < mostListed)
        call.cancels.push({
          ...seen,
          direction: record.direction,
          ...(reason !== undefined && { reason: cut(reason) }),
        })
    } else if (method === 'notifications/progress') {
      call.progress ??= { count: 0, last: seen, before: 0 }
      call.progress.count += 1
      call.progress.last = seen
      if (call.answers.length === 0) call.progress.before += 1
      const text = progressText(params)
      if (text !== '') call.progress.text = text
    } else if (method === 'notifications/tasks/status' || method === 'notifications/tasks') {
      call.polls ??= { count: 0, last: seen }
      const status = textAt(params, 'status')
      if (status !== undefined) call.polls.status = cut(status)
    }
  }

  #dropped(id: string, why: string, rule: string | undefined, us: number | undefined): void {
    const row = this.#fold.rowOf(id)
    const call = this.#calls.get(row)
    if (call) {
      call.dropped = { why: cut(why), us, ...(rule !== undefined && { rule: cut(rule) }) }
      return
    }
    const answered = row < 0 ? undefined : this.#calls.get(requestOf(this.#fold, row))
    const seq = row < 0 ? -1 : this.#fold.entries.seq(row)
    const at = answered?.answers.findIndex((answer) => answer.seq === seq) ?? -1
    if (answered && at >= 0) {
      const more = { why: cut(why), ...(rule !== undefined && { rule: cut(rule) }) }
      answered.answers[at] = { ...answered.answers[at]!, ...more }
    }
  }

  #undelivered(id: string, why: string): void {
    const row = this.#fold.rowOf(id)
    if (row < 0) return
    const own = this.#calls.get(row)
    if (own) own.undelivered = cut(why)
    const call = this.#calls.get(requestOf(this.#fold, row))
    const at = call?.answers.findIndex(({ seq }) => seq === this.#fold.entries.seq(row)) ?? -1
    if (call && at >= 0) call.answers[at] = { ...call.answers[at]!, undelivered: cut(why) }
  }

  #http(record: HttpRecord): void {
    const call = this.#byExchange.get(`${this.#session} ${record.exchange}`)
    if (!call || call.http.length >= mostListed) return
    const { method, path, status, why, body, headers } = record
    call.http.push({
      method,
      path: cut(path),
      us: record.us,
      ...(status !== undefined && { status }),
      ...(why !== undefined && { why: cut(why) }),
      ...(body !== undefined && body !== '' && { body: cut(body) }),
      ...(headers && { headers }),
    })
    if (status !== undefined && status >= 400) this.#concluded(call)
  }

  #stderrLine(text: string, us: number | undefined): void {
    for (const call of this.#open) {
      call.stderrCount += 1
      call.stderr.push({ text: cut(text), us })
      if (call.stderr.length > stderrKept) call.stderr.shift()
    }
  }

  /** Later records do not concern the wait for its response. */
  #concluded(call: CallFacts): void {
    this.#open.delete(call)
  }
}
