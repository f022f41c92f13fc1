import type { Report } from '../../model/index.js'
import type { Recording } from '../format.js'
import { createLosses } from '../losses.js'
import { textChunks } from '../text-chunks.js'
import { tellRecords, type Told, type ToldMessage } from '../told/told.js'

const columns = [
  'seq',
  'time',
  'offset_ms',
  'direction',
  'kind',
  'method',
  'subject',
  'id',
  'answers',
  'latency_ms',
  'error_code',
  'error_message',
  'tool_error',
  'conversation',
  'http_status',
  'modified',
  'size_bytes',
  'payload',
] as const

type Row = Partial<Record<(typeof columns)[number], string | number | undefined>>

/**
 * A line of names, then a row a message. Lines that are no message (noise, stderr, gaps, HTTP without JSON-RPC)
 * have rows without a number.
 */
export function writeCsv(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  return textChunks(linesOf(recording, report))
}

async function* linesOf(recording: Recording, report: Report): AsyncGenerator<string, void, undefined> {
  const losses = createLosses(report)
  yield `${columns.join(',')}\r\n`
  for await (const told of tellRecords(recording)) {
    const row = told.kind === 'message' ? messageRow(told) : otherRow(told)
    if (row) yield lineOf(row)
    if (told.kind === 'message') {
      const { record, part } = told
      if (record.batch && part === record.parts[0]) losses.add('batches are written message by message')
      if (record.http?.headers || record.sse) losses.add('headers and fields of events are left out')
      if (part === record.parts[0]) losses.marks(record)
      if (part.links) losses.add('links are left out')
    } else if (!row) losses.record(told.record)
  }
  losses.tell()
}

function messageRow({ record, part, seq, us, latencyUs, text, sizeBytes, request }: ToldMessage): Row {
  const { envelope } = part
  return {
    seq,
    ...timeOf(record.t, us),
    direction: record.direction,
    kind: envelope.kind,
    method: envelope.method ?? request?.envelope.method,
    subject: envelope.subject ?? request?.envelope.subject,
    id: envelope.id,
    answers: request?.seq,
    latency_ms: latencyUs === undefined ? undefined : latencyUs / 1000,
    error_code: envelope.errorCode,
    error_message: envelope.errorMessage,
    tool_error: envelope.toolError ? 'true' : undefined,
    conversation: record.conversation,
    http_status: record.http?.status,
    modified: record.modified ? 'true' : undefined,
    size_bytes: sizeBytes,
    payload: text,
  }
}

/** Empty where the recording says no times. */
function timeOf(t: string, us: number | undefined): Row {
  return us === undefined ? {} : { time: t, offset_ms: us / 1000 }
}

function otherRow({ record, us }: Extract<Told, { kind: 'other' }>): Row | undefined {
  switch (record.type) {
    case 'noise':
      return {
        ...timeOf(record.t, us),
        direction: record.direction,
        kind: 'noise',
        payload: record.text,
      }
    case 'stderr':
      return { ...timeOf(record.t, us), kind: 'stderr', payload: record.text }
    case 'gap':
      return { ...timeOf(record.t, us), kind: 'gap', payload: `${record.lost} lost: ${record.why}` }
    case 'http':
      return {
        ...timeOf(record.t, us),
        kind: 'http',
        method: record.method,
        subject: record.path,
        conversation: record.conversation,
        http_status: record.status,
        payload: record.body ?? record.why,
      }
    default:
      return undefined
  }
}

function lineOf(row: Row): string {
  let line = cell(row[columns[0]])
  for (let i = 1; i < columns.length; i += 1) line += `,${cell(row[columns[i]!])}`
  return `${line}\r\n`
}

/**
 * RFC 4180. Spreadsheets run what begins like a formula, and text of peers is hostile: an apostrophe before it makes it
 * text.
 */
function cell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text =
    formula.includes(value.charAt(0)) && value !== '' && !plainNumber.test(value) ? `'${value}` : value
  if (text.includes('"')) return `"${text.replaceAll('"', '""')}"`
  return separators.test(text) ? `"${text}"` : text
}

const formula = '=+-@\t\r'
const plainNumber = /^-?\d+(?:\.\d+)?$/
const separators = /[,\r\n]/
