import type { Recording } from '../formats/index.js'
import type { EndRecord, TapeRecord } from '../model/index.js'

/** Input for the last line of a tape when its recorder did not write one. */
export interface TapeSoFar {
  readonly started?: string
  readonly last?: { readonly t: string; readonly us?: number }
  readonly messages: number
}

/** An `end` line for a tape that was cut off. */
export function closing({ started, last, messages }: TapeSoFar): EndRecord {
  const t = last?.t ?? started ?? new Date(0).toISOString()
  const ms = last?.us === undefined ? Date.parse(t) - Date.parse(started ?? t) : last.us / 1000
  return {
    type: 'end',
    t,
    // The end of the server is unknown; trace v1 requires a number.
    exitCode: 1,
    durationMs: Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : 0,
    wiretape: { messages, recovered: true },
  }
}

/** A recording with an end: its own, or a generated one. */
export function closed(recording: Recording): Recording {
  async function* records(): AsyncGenerator<TapeRecord, void, undefined> {
    let started: string | undefined
    let last: { t: string; us?: number } | undefined
    let messages = 0
    let ended = false
    for await (const record of recording.records()) {
      ended = record.type === 'end' && record.wiretape?.rotated !== true
      if (record.type === 'meta') started ??= record.startedAt
      else if (record.type === 'message') messages += record.parts.length
      if (record.type !== 'meta' && record.type !== 'end' && record.type !== 'unknown') last = record
      yield record
    }
    if (!ended) yield closing({ messages, ...(started !== undefined && { started }), ...(last && { last }) })
  }
  return { records }
}
