import type { Report } from '../../model/index.js'
import type { Recording } from '../format.js'
import { chained, flatMapped, just } from '../iterate.js'
import { createLosses } from '../losses.js'
import { textChunks, type Piece } from '../text-chunks.js'
import { otherRow, type OtherRow } from '../told/other-row.js'
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

/**
 * A line of names, then a row a message. Lines that are no message (noise, stderr, gaps, HTTP without JSON-RPC)
 * have rows without a number.
 */
export function writeCsv(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  const losses = createLosses(report)
  function linesOf(told: Told): Piece[] {
    if (told.kind === 'message') {
      const { record, part } = told
      const isFirst = part === record.parts[0]
      if (record.batch && isFirst) losses.add('batches are written message by message')
      if (record.http?.headers || record.sse) losses.add('headers and fields of events are left out')
      if (isFirst) {
        losses.marks(record)
        losses.links(record)
      }
      return lineOf(messageCells(told), told.text)
    }
    const row = otherRow(told)
    if (row) return lineOf(columns.map((name) => cell(row[name as keyof OtherRow])).slice(0, -1), row.payload)
    losses.record(told.record)
    return []
  }
  function end(): [] {
    losses.tell()
    return []
  }
  const rows = (): AsyncIterable<Piece> => flatMapped(tellRecords(recording), linesOf, end)
  const names = (): AsyncIterable<Piece> => just([`${columns.join(',')}\r\n`])
  return textChunks(chained([names, rows]), recording)
}

/** All but the payload, in the order of the columns. There are millions of these: no object of them is made. */
function messageCells({ record, part, seq, us, latencyUs, sizeBytes, request }: ToldMessage): string[] {
  const { envelope } = part
  return [
    `${seq}`,
    us === undefined ? '' : cell(record.t),
    us === undefined ? '' : `${us / 1000}`,
    record.direction,
    envelope.kind,
    cell(envelope.method ?? request?.envelope.method),
    cell(envelope.subject ?? request?.envelope.subject),
    cell(envelope.id),
    request ? `${request.seq}` : '',
    latencyUs === undefined ? '' : `${latencyUs / 1000}`,
    cell(envelope.errorCode),
    cell(envelope.errorMessage),
    envelope.toolError ? 'true' : '',
    cell(record.conversation),
    cell(record.http?.status),
    record.modified ? 'true' : '',
    `${sizeBytes}`,
  ]
}

/** The payload is a piece of its own: most of the text is in it, and it is not copied before it is encoded. */
function lineOf(cells: readonly string[], text: string): Piece[] {
  const line = cells.join(',')
  const payload = harmless(text)
  if (!payload.includes('"')) return [`${line},${cell(payload)}\r\n`]
  return [`${line},"`, { quoted: payload }, '"\r\n']
}

/** RFC 4180. */
function cell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = harmless(value)
  if (text.includes('"')) return `"${text.replaceAll('"', '""')}"`
  return separators.test(text) ? `"${text}"` : text
}

/**
 * Spreadsheets run what begins like a formula, and text of peers is hostile: an apostrophe before it makes it text.
 * Where a list is separated by semicolons, quotes that follow a comma are no quotes to a spreadsheet: then semicolons
 * and line breaks of the text begin a cell, too.
 */
function harmless(text: string): string {
  if (plainNumber.test(text)) return text
  const begun = formula.test(text) ? `'${text}` : text
  return cellBreak.test(begun) ? begun.replace(innerFormula, guarded) : begun
}

/** All that stands between two cells, and the sign of a formula behind it. */
function guarded(all: string, between: string, sign: string): string {
  return cellBreak.test(between) ? `${between}'${sign}` : all
}

/** With their full-width, small and typographic forms, which a spreadsheet or an input method folds. */
const signs = '=+@\\-\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212'
const formula = new RegExp(`^(?:[\\t\\r\\n]|[\\s"\\p{Cc}\\p{Cf}\\u3164]*[${signs}])`, 'u')
/** A run of blanks is gone through once: it begins where no blank is before it. */
const innerFormula = new RegExp(
  `(?<![;\\s"\\p{Cc}\\p{Cf}\\u3164])([;\\s"\\p{Cc}\\p{Cf}\\u3164]+)([${signs}])`,
  'gu',
)
const cellBreak = /[;\r\n]/
const plainNumber = /^-?\d+(?:\.\d+)?$/
const separators = /[,;\t\r\n]/
