import type { Report, TapeRecord } from '../../model/index.js'
import type { Recording } from '../format.js'
import { flatMapped } from '../iterate.js'
import { createLosses } from '../losses.js'
import { textChunks, type Piece } from '../text-chunks.js'
import { LentMessage } from '../trace-v1/index.js'

/** Each message as its exact text, one per line; messages of a batch on separate lines. */
export function writeLines(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  const losses = createLosses(report)
  function* linesOf(record: TapeRecord): Generator<Piece> {
    if (record.type !== 'message') return losses.record(record)
    const { parts } = record
    if (record.batch) losses.add('batches are written message by message')
    losses.marks(record)
    losses.links(record)
    losses.pairs(record)
    losses.conversation(record)
    if (record.http || record.sse) losses.add('HTTP and SSE data of messages is left out', parts.length)
    losses.add('times and directions of messages are left out', parts.length)
    if (record instanceof LentMessage) {
      yield record.utf8
      yield '\n'
      return
    }
    const { raw } = record
    for (const { start, end } of parts) {
      yield raw.slice(start, end)
      yield '\n'
    }
  }
  function end(): [] {
    losses.tell()
    return []
  }
  return textChunks(flatMapped(recording.records('bytes'), linesOf, end), recording)
}
