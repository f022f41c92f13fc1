import type { Report } from '../../model/index.js'
import type { Recording } from '../format.js'
import { chained, flatMapped, just } from '../iterate.js'
import { createLosses } from '../losses.js'
import { textChunks, type Piece } from '../text-chunks.js'
import { LentMessage } from '../trace-v1/index.js'
import { otherRow, type OtherRow } from '../told/other-row.js'
import { cell, harmless } from './cell.js'
import { lentRow } from './lent-row.js'
import { tellRecords, type Told, type ToldMessage } from '../told/told.js'

const SEMICOLON = 0x3b
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
 * A line of column names, then one row per message. Other records (noise, stderr, gaps, HTTP without JSON-RPC)
 * have rows without a number.
 */
export function writeCsv(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  const losses = createLosses(report)
  function linesOf(told: Told): Piece[] {
    if (told.kind === 'message') {
      const { record, part } = told
      const isFirst = part === record.parts[0]
      if (record.batch && isFirst) losses.add('batches are written message by message')
      if (record.http?.headers || record.sse) losses.add('HTTP headers and SSE fields are left out')
      if (isFirst) {
        losses.marks(record)
        losses.links(record)
      }
      return record instanceof LentMessage ? lentLine(told, record) : lineOf(messageCells(told), told.text)
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
  const rows = (): AsyncIterable<Piece> => flatMapped(tellRecords(recording, 'quoted'), linesOf, end)
  const names = (): AsyncIterable<Piece> => just([`${columns.join(',')}\r\n`])
  return textChunks(chained([names, rows]), recording)
}

/** All cells except the payload, in column order. No object per row, since there are millions. */
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

/** As `lineOf`. A JSON object on one line begins no cell of its own, unless it contains a semicolon. */
function lentLine(told: ToldMessage, record: LentMessage): Piece[] {
  const { encoded } = told
  const row = encoded && lentRow(told, record, encoded)
  if (row) return [row]
  if (encoded) return [`${messageCells(told).join(',')},"`, encoded, '"\r\n']
  const json = record.utf8
  if (json.includes(SEMICOLON)) return lineOf(messageCells(told), record.raw)
  return [`${messageCells(told).join(',')},"`, { quoted: json }, '"\r\n']
}

/** The payload is a separate piece: it holds most of the text, and is not copied before encoding. */
function lineOf(cells: readonly string[], text: string): Piece[] {
  const line = cells.join(',')
  const payload = harmless(text)
  if (!payload.includes('"')) return [`${line},${cell(payload)}\r\n`]
  return [`${line},"`, { quoted: payload }, '"\r\n']
}
