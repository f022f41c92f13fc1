import { traceV1, type ReportPage } from '../../src/formats/index.js'
import { WiretapeError } from '../../src/model/index.js'
import { furtherFormats } from '../patterns/loaded.js'
import { endingOf } from './file-name.js'
import type { LaneIndex } from './lane.js'
import { chunksOf } from './source.js'

/**
 * Writes a lane in a format; warnings name the data that the format cannot hold.
 *
 * @param page the viewer, for a report
 */
export async function exportLane(
  lane: LaneIndex,
  id: string,
  page?: ReportPage,
): Promise<{ blob: Blob; name: string; warnings: readonly string[] }> {
  const { formats, htmlReport } = furtherFormats()
  const format = page ? htmlReport(async () => page) : formats.find((one) => one.id === id)
  if (!format?.write) throw new WiretapeError('usage', `cannot write the format ${id}`)
  const warnings: string[] = []
  const input = { bytes: () => chunksOf(lane.source) }
  const records = { records: () => traceV1.read!(input, () => undefined) }
  const parts: Blob[] = []
  let pending: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of format.write(records, ({ message }) => {
    if (warnings.length < 5) warnings.push(`${message}.`)
  })) {
    pending.push(new Uint8Array(chunk))
    size += chunk.length
    if (size < 1 << 23) continue
    parts.push(new Blob(pending))
    pending = []
    size = 0
  }
  const label = (lane.fold.sessions[0]?.label || 'recording').replace(/[^\w.-]+/g, '-').slice(0, 60)
  return {
    blob: new Blob([...parts, ...pending]),
    name: label + endingOf(format),
    warnings,
  }
}
