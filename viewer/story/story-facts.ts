import { isForWiretape, isFrameRecord, type Draft, type HttpPhases } from '../../src/model/index.js'
import { formatDuration, ownAnswerWords, phaseViews } from '../../src/render/index.js'
import { nameOf } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { lanes, table } from '../store/state.js'
import type { Detail, StoryStep } from '../worker/protocol.js'

type Json = Readonly<Record<string, unknown>>

/** The JSON of a message; undefined for other records and for long messages. */
export function messageOf({ record, part }: Detail): Json | undefined {
  if (!isFrameRecord(record) || record.raw === '') return undefined
  const place = record.parts[part]
  if (!place || place.envelope.kind === 'invalid') return undefined
  const value: unknown = JSON.parse(record.raw.slice(place.start, place.end))
  return typeof value === 'object' && value !== null ? (value as Json) : undefined
}

/** The state of a task, as one message reports it. */
export interface TaskState {
  readonly status: string
  readonly message: string
  /** The message creates the task. */
  readonly isNew: boolean
  /** The task's result, if the same message contains it. */
  readonly result?: unknown
}

/** The task state in the response to a poll, a notification, or the response that creates the task. */
export function taskIn({ kind, detail, answer }: StoryStep): TaskState | undefined {
  if (kind !== 'poll' && kind !== 'notification' && kind !== 'answer') return undefined
  const message = messageOf(kind === 'poll' ? (answer ?? detail) : detail)
  const said = (message?.[kind === 'notification' ? 'params' : 'result'] ?? {}) as Json
  const { task } = said
  const state = typeof task === 'object' && task !== null ? (task as Json) : said
  const { taskId, status, statusMessage, error, result } = state
  if (typeof taskId !== 'string' || typeof status !== 'string') return undefined
  const reason = statusMessage ?? ((error ?? {}) as Json)['message']
  return {
    status: status.slice(0, 100),
    message: typeof reason === 'string' ? reason.slice(0, 2_000) : '',
    isNew: state !== said || said['resultType'] === 'task',
    ...(result !== undefined && { result }),
  }
}

export interface Hold {
  readonly us: number
  /** The holder, duration and outcome. */
  readonly text: string
}

/** Undefined for a message that was not held. */
export function holdOf({ row, at, dropped, detail: { record } }: StoryStep): Hold | undefined {
  if (!isFrameRecord(record)) return undefined
  const waited = dropped && at > 0 ? dropped.at - at : 0
  const passed = record.type === 'message' ? (record.heldMs ?? 0) * 1000 : 0
  const us = Math.max(table.heldUs(row), passed, waited > 0 ? waited : 0)
  if (us <= 0 && record.type !== 'held') return undefined
  const time = us > 0 ? ` for ${formatDuration(us)}` : ''
  const isStopped = record.type === 'held'
  if (isStopped && isForWiretape(table, row)) return { us, text: ownAnswerWords.why }
  if (dropped && isStopped) {
    const why = dropped.rule === undefined ? ` (${clean(dropped.why)})` : ` by ${ruleName(dropped.rule)}`
    return { us, text: `${us >= 1000 ? `held${time}, then ` : ''}dropped${why}` }
  }
  const by = record.rule === undefined ? '' : ` by ${ruleName(record.rule)}`
  return { us, text: `held${by}${time}, ${fateOf(row, isStopped)}` }
}

function ruleName(rule: string): string {
  return `the rule ${clean(rule)}`
}

function fateOf(row: number, isStopped: boolean): string {
  if (isStopped && lanes.peek()[table.lane(row)]?.state === 'following') return 'not yet forwarded'
  if (isStopped) return 'never forwarded'
  return table.has(row, 'modified') ? 'then edited and forwarded' : 'then forwarded'
}

/** An HTTP exchange of a story; times are microseconds since 1970. */
export interface HttpCourse {
  readonly exchange: number
  /** The message in the HTTP request, in words; '' if none is in the story. */
  readonly name: string
  /** Absent in recordings without them. */
  readonly phases?: HttpPhases
  readonly began: number
  /** Time of the response's first message, or of the response if it has none; absent without a response. */
  readonly firstAt?: number
  readonly lastAt: number
}

/** The HTTP exchanges whose requests are in the story, in order. */
export function httpOf(steps: readonly StoryStep[]): HttpCourse[] {
  const courses = new Map<number, Draft<HttpCourse>>()
  const parts = steps.flatMap(({ row, at, detail, answer, answerAt = 0, accepted }) => [
    { row, at, detail },
    ...(answer ? [{ row: answer.row, at: answerAt, detail: answer }] : []),
    ...(accepted ? [{ row: accepted.detail.row, ...accepted }] : []),
  ])
  for (const { row, at, detail } of parts.toSorted((a, b) => a.at - b.at)) {
    const exchange = exchangeOf(detail)
    if (exchange === undefined || at === 0) continue
    const course = courses.get(exchange)
    if (isFrameRecord(detail.record) && detail.record.direction === 'client_to_server') {
      if (!course) courses.set(exchange, { exchange, name: nameOf(row).name, began: at, lastAt: at })
      continue
    }
    const isHttp = detail.record.type === 'http'
    if (isHttp && detail.record.status === undefined) continue
    const phases = phasesOf(detail)
    if (course) {
      course.firstAt ??= at
      if (phases) course.phases ??= phases
      course.lastAt = Math.max(course.lastAt, at)
    } else if (isHttp && detail.record.method === 'GET') {
      const tookUs = phases ? phaseViews(phases).reduce((sum, { us }) => sum + us, 0) : 0
      const began = at - tookUs
      courses.set(exchange, {
        exchange,
        name: 'GET',
        began,
        firstAt: at,
        lastAt: at,
        ...(phases && { phases }),
      })
    }
  }
  // A stream counts only if messages of the story came through it.
  return [...courses.values()].filter(({ name, firstAt = 0, lastAt }) => name !== 'GET' || lastAt > firstAt)
}

function phasesOf({ record }: Detail): HttpPhases | undefined {
  if (record.type === 'http') return record.phases
  return record.type === 'message' || record.type === 'held' ? record.http?.phases : undefined
}

function exchangeOf(detail: Detail | undefined): number | undefined {
  const record = detail?.record
  if (record?.type === 'http') return record.exchange
  return record?.type === 'message' || record?.type === 'held' ? record.http?.exchange : undefined
}
