import type { Report } from '../../model/index.js'
import type { Recording } from '../format.js'
import { createLosses } from '../losses.js'
import { textChunks } from '../text-chunks.js'

/** Each message as its exact text, one a line; those of a batch one by one. */
export function writeLines(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  return textChunks(linesOf(recording, report))
}

async function* linesOf(recording: Recording, report: Report): AsyncGenerator<string, void, undefined> {
  const losses = createLosses(report)
  for await (const record of recording.records()) {
    if (record.type !== 'message') {
      losses.record(record)
      continue
    }
    const { parts, raw } = record
    if (record.batch) losses.add('batches are written message by message')
    losses.marks(record)
    if (record.http || record.sse) losses.add('what HTTP said around messages is left out', parts.length)
    losses.add('times and directions of messages are left out', parts.length)
    for (const { start, end } of parts) yield `${raw.slice(start, end)}\n`
  }
  losses.tell()
}
