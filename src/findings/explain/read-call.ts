import { paramsKey, taskPoll } from '../../compare/index.js'
import {
  detach,
  hasFailed,
  type EntryTable,
  type HeldRecord,
  type MessageRecord,
  type Part,
} from '../../model/index.js'
import { at, isMap, listAt, textAt, type Json } from '../json.js'
import type { CallAnswer, CallFacts, RowTime } from './call.js'

/** Limits in characters: for a kept text, and for a message that is read. */
const longestText = 300
const longestKeyed = 64 * 1024

export function answerOf(
  entries: EntryTable,
  record: MessageRecord | HeldRecord,
  part: Part,
  row: number,
): CallAnswer {
  const { envelope } = part
  const isToolError = envelope.toolError === true
  const text =
    envelope.kind === 'error' ? envelope.errorMessage : isToolError ? toolText(record, part) : undefined
  return {
    ...momentOf(entries, row),
    kind: envelope.kind === 'error' ? 'error' : 'result',
    isLate: entries.has(row, 'late'),
    isToolError,
    isInjected: entries.has(row, 'injected'),
    isModified: entries.has(row, 'modified'),
    heldUs: entries.heldUs(row),
    ...(envelope.createsTask && { task: taskOf(entries, row) }),
    needsInput: envelope.resultType === 'input_required',
    fate: fateOf(entries, row),
    ...(record.rule !== undefined && { rule: cut(record.rule) }),
    ...(envelope.errorCode !== undefined && { code: cut(envelope.errorCode) }),
    ...(text !== undefined && text !== '' && { text: cut(text) }),
    ...(record.http?.status !== undefined && { httpStatus: record.http.status }),
  }
}

export function goodness(entries: EntryTable, answer: number): 'good' | 'bad' {
  return hasFailed(entries, answer) ? 'bad' : 'good'
}

export function fateOf(entries: EntryTable, row: number): CallFacts['fate'] {
  return entries.has(row, 'dropped') ? 'dropped' : entries.has(row, 'waiting') ? 'waiting' : 'passed'
}

export function momentOf(entries: EntryTable, row: number): RowTime {
  return { seq: entries.seq(row), us: entries.has(row, 'untimed') ? undefined : entries.us(row) }
}

function taskOf(entries: EntryTable, answer: number): NonNullable<CallAnswer['task']> {
  if (entries.has(answer, 'taskOpen')) return 'open'
  if (entries.has(answer, 'taskFailed')) return 'failed'
  return entries.has(answer, 'taskCancelled') ? 'cancelled' : 'completed'
}

/** The end of a call's task, which another message may have reported before the one with the reason. */
export function taskEndUs(entries: EntryTable, call: number): number | undefined {
  const answer = entries.peer(call)
  return entries.has(answer, 'untimed') ? undefined : entries.us(answer) + entries.taskUs(answer)
}

/** The reason in a message that reports the end of a task; '' for none. */
export function endText(record: MessageRecord | HeldRecord, part: Part): string {
  const { errorMessage } = part.envelope
  if (errorMessage !== undefined) return errorMessage
  const value = valueOf(record, part)
  const said = at(value, 'result') ?? at(value, 'params')
  const of = at(said, 'task') ?? said
  const text = textAt(of, 'error', 'message') ?? textAt(of, 'statusMessage')
  return text ?? (contentText(at(of, 'result')) || contentText(of))
}

/** Key of a request, equal for equivalent ones; undefined for requests that are meant to be repeated. */
export function keyOf(record: MessageRecord | HeldRecord, part: Part): string | undefined {
  const { method = '', subject = '' } = part.envelope
  if (method === 'ping' || method === taskPoll || part.end - part.start > longestKeyed) return undefined
  const text = record.raw.slice(part.start, part.end)
  const redacted = record.batch ? [] : (record.red ?? [])
  return detach(`${record.direction} ${method} ${subject} ${paramsKey(text, method, { redacted })}`)
}

export function valueOf(record: MessageRecord | HeldRecord, part: Part): Json | undefined {
  if (part.end - part.start > longestKeyed) return undefined
  try {
    return JSON.parse(record.raw.slice(part.start, part.end)) as Json
  } catch {
    return undefined
  }
}

function toolText(record: MessageRecord | HeldRecord, part: Part): string {
  return contentText(at(valueOf(record, part), 'result'))
}

function contentText(result: Json | undefined): string {
  const content = listAt(result, 'content')
  return content.map((block) => (isMap(block) ? (textAt(block, 'text') ?? '') : '')).join(' ')
}

export function progressText(params: Json | undefined): string {
  const numbers = [at(params, 'progress'), at(params, 'total')].filter((value) => typeof value === 'number')
  const text = textAt(params, 'message')
  return [numbers.join(' of '), ...(text === undefined ? [] : [`“${cut(text)}”`])].filter(Boolean).join(' ')
}

export function cut(text: string): string {
  return detach(text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text)
}
