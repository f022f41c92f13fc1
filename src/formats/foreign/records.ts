import type { EndRecord, MessageRecord, MetaRecord, Transport } from '../../model/index.js'
import { onOneLine, readParts } from '../../wire/index.js'
import { bareMeta, madeUpId } from '../session-json/session.js'

/** The first line for a recording with little metadata. */
export function foreignMeta(said: {
  readonly startedAt: string
  readonly transport: Transport
  readonly url?: string | undefined
  readonly label?: string
}): MetaRecord {
  const { startedAt, transport, url = null, label } = said
  const meta = bareMeta({ startedAt, session: '', transport, url, metadata: [], command: [] })
  const named = label === undefined || meta.label !== '' ? meta : { ...meta, label }
  return { ...named, wiretape: { ...named.wiretape!, session: madeUpId(named) } }
}

/**
 * The last line; it only gives the time of the last message. HTTP servers have no exit code, which tapes write as
 * 0; that of a process is unknown.
 */
export function foreignEnd(t: string, { startedAt, wiretape }: MetaRecord): EndRecord {
  const exitCode = wiretape?.transport === 'stdio' ? null : 0
  return { type: 'end', t, exitCode, durationMs: Math.max(0, Date.parse(t) - Date.parse(startedAt)) }
}

/** @param text checked JSON without surrounding white space */
export function foreignMessage(
  text: string,
  said: Pick<MessageRecord, 't' | 'direction'> &
    Partial<Pick<MessageRecord, 'http' | 'sse' | 'conversation' | 'entry'>>,
): MessageRecord {
  const raw = onOneLine(text)
  const { batch, parts } = readParts(raw)
  return { type: 'message', ...said, raw, batch, parts }
}

/** ISO 8601, or undefined for an invalid time. */
export function isoTime(ms: number | undefined): string | undefined {
  return ms !== undefined && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined
}
