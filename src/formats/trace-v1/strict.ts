import { WiretapeError, type EndRecord, type MetaRecord, type TapeRecord } from '../../model/index.js'
import { answeredHere } from '../answered-here.js'
import type { Format } from '../format.js'
import { flatMapped } from '../iterate.js'
import { createLosses } from '../losses.js'
import { textChunks } from '../text-chunks.js'
import { encodeRecord } from './encode.js'
import { createSeveralServers, type SeveralServers } from './several-servers.js'

/** Only the lines and members of the published format, for `record --strict-v1`. */
export const strictTrace = {
  id: 'trace-v1',
  title: 'tape (trace v1, strict)',
  detect: () => 0,
  write(recording, report) {
    const losses = createLosses(report)
    let meta: MetaRecord | undefined
    const servers = createSeveralServers()
    function lineOf(record: TapeRecord): string {
      servers.see(record)
      if (record.type === 'message') refuseSeveral(servers)
      if (record.type === 'meta') {
        if (meta) return ''
        meta = { ...record, startedAt: inMilliseconds(record.startedAt) }
        return encodeRecord(meta, { strict: true })
      }
      if (record.type === 'end') {
        if (record.wiretape?.rotated) return ''
        return encodeRecord(completed(record, meta), { strict: true })
      }
      if (record.type === 'message') losses.marks(record)
      else losses.record(record)
      return encodeRecord(record, { strict: true })
    }
    const lines = flatMapped(
      answeredHere(recording).records(),
      (record) => [lineOf(record)],
      () => {
        losses.tell()
        return []
      },
    )
    return textChunks(lines, recording)
  },
} satisfies Format

/** @throws WiretapeError `usage` */
function refuseSeveral({ problem }: SeveralServers): void {
  if (problem) throw new WiretapeError('usage', problem.message, { hint: problem.hint })
}

/** The published format has milliseconds. */
function inMilliseconds(time: string): string {
  const ms = Date.parse(time)
  return Number.isNaN(ms) ? time : new Date(ms).toISOString()
}

/** The published format requires both: the time between the lines, and a status, which HTTP servers lack. */
function completed(end: EndRecord, meta: MetaRecord | undefined): EndRecord {
  const ms = Date.parse(end.t) - Date.parse(meta?.startedAt ?? '')
  const isHttp = meta?.wiretape !== undefined && meta.wiretape.transport !== 'stdio'
  return {
    ...end,
    t: inMilliseconds(end.t),
    exitCode: end.exitCode ?? (isHttp ? 0 : null),
    durationMs: end.durationMs ?? (Number.isNaN(ms) ? null : Math.max(0, ms)),
  }
}
