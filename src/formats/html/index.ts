import type { Format, Recording } from '../format.js'
import { textChunks } from '../text-chunks.js'
import { traceV1 } from '../trace-v1/index.js'
import { base64Pieces } from './base64.js'
import { pageAround, type ReportPage } from './page.js'

export type { ReportPage } from './page.js'

/**
 * One file with the viewer and the recording: nothing is fetched, it works from a disk and offline. The
 * recording is a tape, compressed and in base64, so that no character of it is interpreted as markup.
 *
 * @param load loads the built viewer, on writing
 */
export function htmlReport(load: () => Promise<ReportPage>): Format & Required<Pick<Format, 'write'>> {
  return {
    id: 'html',
    title: 'report (one HTML file)',
    extension: '.html',
    detect: () => 0,
    write: (recording) => textChunks(piecesOf(recording, load)),
  }
}

async function* piecesOf(
  recording: Recording,
  load: () => Promise<ReportPage>,
): AsyncGenerator<string, void, undefined> {
  const label = await labelOf(recording)
  const [before, after] = await pageAround(await load(), label)
  yield before
  const tape = traceV1.write!(recording, () => undefined)
  yield* base64Pieces(packed(tape))
  yield after
}

async function labelOf(recording: Recording): Promise<string> {
  for await (const record of recording.records()) {
    if (record.type === 'meta') return record.label
  }
  return ''
}

/** Compresses with the platform's stream; its queue applies backpressure to the writer. */
async function* packed(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const gzip = new CompressionStream('gzip')
  const writer = gzip.writable.getWriter()
  const fed = (async () => {
    try {
      for await (const chunk of source) await writer.write(new Uint8Array(chunk))
      await writer.close()
    } catch (error) {
      await writer.abort(error).catch(() => undefined)
      throw error
    }
  })()
  // Its error is raised below; this avoids an unhandled rejection until then.
  fed.catch(() => undefined)
  const reader = gzip.readable.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } catch (error) {
    await fed
    throw error
  }
  await fed
}
