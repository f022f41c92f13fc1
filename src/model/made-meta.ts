import { isMeasurable } from './measurable.js'
import type { MetaRecord, TapeRecord } from './record.js'
import type { SessionDraft } from './session.js'

/**
 * A replacement for the lost first line of a recording, made from the first record with a time: every line of a tape
 * has one. Undefined for a record without a time.
 */
export function madeMeta(record: TapeRecord): MetaRecord | undefined {
  if (record.type === 'meta' || record.type === 'unknown') return undefined
  const ms = Date.parse(record.t ?? '')
  if (Number.isNaN(ms)) return undefined
  const us = ('us' in record ? record.us : undefined) ?? 0
  const started = new Date(ms - (isMeasurable(us) ? Math.round(us / 1000) : 0))
  if (Number.isNaN(started.getTime())) return undefined
  return { type: 'meta', startedAt: started.toISOString(), label: '', command: [], made: true }
}

/** Segments of a strict tape do not name their recording, but begin with the same line. */
export function isNextOf(before: SessionDraft | undefined, meta: MetaRecord): boolean {
  if (!before || before.own || before.startedAt !== meta.startedAt || before.label !== meta.label)
    return false
  return (
    meta.mcpTapVersion?.startsWith('wiretape ') === true &&
    before.command.join('\0') === meta.command.join('\0')
  )
}
