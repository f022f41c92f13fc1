import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { readTraceLines, withFoundTransport, type Recording } from '../formats/index.js'
import type { TapeRecord } from '../model/index.js'

/** Bytes per read. */
const chunkBytes = 1 << 18

/**
 * The current state of a tape of wiretape, in one or more segments: lines written later are excluded, and so
 * is an incomplete last line.
 */
export async function snapshotTape(paths: readonly string[]): Promise<Recording> {
  const files: { path: string; sizeBytes: number }[] = []
  for (const path of paths) files.push({ path, sizeBytes: (await stat(path)).size })
  async function* records(): AsyncGenerator<TapeRecord, void, undefined> {
    for (const { path, sizeBytes } of files) {
      if (sizeBytes === 0) continue
      const bytes = createReadStream(path, { highWaterMark: chunkBytes, end: sizeBytes - 1 })
      for await (const { record } of readTraceLines(bytes, () => undefined)) yield record
    }
  }
  return { records: () => withFoundTransport(records()) }
}
