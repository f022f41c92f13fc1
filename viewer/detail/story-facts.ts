import { formatDuration } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { lanes, table } from '../store/state.js'
import type { Detail, StoryStep } from '../worker/protocol.js'

type Json = Readonly<Record<string, unknown>>

/** The JSON of a message; undefined for what is none, or too long. */
export function messageOf({ record, part }: Detail): Json | undefined {
  if ((record.type !== 'message' && record.type !== 'held') || record.raw === '') return undefined
  const place = record.parts[part]
  if (!place || place.envelope.kind === 'invalid') return undefined
  const value: unknown = JSON.parse(record.raw.slice(place.start, place.end))
  return typeof value === 'object' && value !== null ? (value as Json) : undefined
}

export interface Hold {
  readonly us: number
  /** Who held it, for how long, what became of it. */
  readonly text: string
}

/** Undefined for a message that was not held. */
export function holdOf({ row, detail: { record } }: StoryStep): Hold | undefined {
  if (record.type !== 'message' && record.type !== 'held') return undefined
  const us = Math.max(table.heldUs(row), record.type === 'message' ? (record.heldMs ?? 0) * 1000 : 0)
  if (us <= 0 && record.type !== 'held') return undefined
  const who = record.rule === undefined ? 'wiretape' : `the rule ${clean(record.rule)}`
  const time = us > 0 ? ` for ${formatDuration(us)}` : ''
  return { us, text: `held by ${who}${time}, ${fateOf(row, record.type === 'held')}` }
}

function fateOf(row: number, isStopped: boolean): string {
  if (table.has(row, 'dropped')) return 'then dropped'
  if (isStopped && lanes.peek()[table.lane(row)]?.state === 'following') return 'and it waits'
  if (isStopped) return 'and never passed on'
  return table.has(row, 'modified') ? 'then changed and passed on' : 'then passed on'
}

/** Phases of the HTTP exchange of a request, in microseconds since 1970. */
export interface HttpPhases {
  readonly exchange: number
  /** Of the first message of the response, or of the response without one; absent where there is none. */
  readonly firstAt?: number
  readonly lastAt: number
}

export function httpOf(steps: readonly StoryStep[], head: number): HttpPhases | undefined {
  const exchange = exchangeOf(steps.find(({ row }) => row === head)?.detail)
  if (exchange === undefined || table.at(head) === 0) return undefined
  let firstAt: number | undefined
  let lastAt = table.at(head)
  for (const { row, at, detail } of steps) {
    if (row === head || exchangeOf(detail) !== exchange) continue
    if (detail.record.type === 'http' && detail.record.status === undefined) continue
    firstAt ??= at
    lastAt = Math.max(lastAt, at)
  }
  return { exchange, lastAt, ...(firstAt !== undefined && { firstAt }) }
}

function exchangeOf(detail: Detail | undefined): number | undefined {
  const record = detail?.record
  if (record?.type === 'http') return record.exchange
  return record?.type === 'message' || record?.type === 'held' ? record.http?.exchange : undefined
}
