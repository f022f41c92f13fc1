import { jsonIn, JsonObject, kindAt } from '../../wire/index.js'
import type { Format } from '../format.js'
import { lazyRead, lazyWrite } from '../lazy.js'

/** JSON-RPC messages, unchanged, one per line. */
export const jsonrpc: Format = {
  id: 'jsonrpc',
  title: 'JSON-RPC messages, one per line',
  detect,
  selects: true,
  borrows: true,
  lends: 'jsonrpc',
  read: lazyRead(async () => (await import('./read.js')).readLines),
  readEnds: async (input) => (await import('./ends.js')).readLineEnds(input),
  write: lazyWrite(async () => (await import('./write.js')).writeLines),
}

/** Lines to check, in case the first ones are invalid. */
const linesLookedAt = 10

function detect(head: Uint8Array): number {
  const lines = new TextDecoder().decode(head).split('\n').slice(0, linesLookedAt)
  let first = true
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue
    // The last line may be cut off.
    if (isMessage(line) || (i === lines.length - 1 && startsLikeMessage(line))) return first ? 0.8 : 0.5
    first = false
  }
  return 0
}

function isMessage(line: string): boolean {
  const span = jsonIn(line)
  if (!span) return false
  if (kindAt(line, span.start) !== 'object') return false
  const message = new JsonObject(line, span.start)
  const method = message.string('method')
  return message.string('jsonrpc') !== undefined || /^(?:initialize|ping|\w+\/[\w/]+)$/.test(method ?? '')
}

/** Whether `jsonrpc` is among the first members. */
function startsLikeMessage(text: string): boolean {
  return /^\ufeff?\s*\{\s*(?:"(?:timestamp_ms|timestamp|id|method)"\s*:\s*(?:-?[\d.]+|"[^"\\]*")\s*,\s*)*"jsonrpc"\s*:\s*"/.test(
    text,
  )
}
