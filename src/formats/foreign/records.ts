import type { EndRecord, MessageRecord, MetaRecord, Transport } from '../../model/index.js'
import { onOneLine, readParts } from '../../wire/index.js'
import { bareMeta, madeUpId } from '../session-json/session.js'

/** The first line for a recording that says little about itself. */
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
 * The last line: it says no more than when the last message was. Servers over HTTP have no exit code, which tapes
 * write as 0; that of a process is not known.
 */
export function foreignEnd(t: string, { startedAt, wiretape }: MetaRecord): EndRecord {
  const exitCode = wiretape?.transport === 'stdio' ? null : 0
  return { type: 'end', t, exitCode, durationMs: Math.max(0, Date.parse(t) - Date.parse(startedAt)) }
}

/** @param text checked JSON without white space around it */
export function foreignMessage(
  text: string,
  said: Pick<MessageRecord, 't' | 'direction'> &
    Partial<Pick<MessageRecord, 'http' | 'sse' | 'conversation' | 'entry'>>,
): MessageRecord {
  const raw = onOneLine(text)
  const { batch, parts } = readParts(raw)
  return { type: 'message', ...said, raw, batch, parts }
}

/** ISO 8601, or undefined for what is no time. */
export function isoTime(ms: number | undefined): string | undefined {
  return ms !== undefined && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined
}
