import type { HeldEvent } from '../control-schema/index.js'
import type { HeldRecord, Part } from '../model/index.js'
import { findJsonValue, isFault, partsOf, readEnvelope } from '../wire/index.js'

/**
 * The record of a held message that the tape does not have: a tape of --strict-v1 never has one, and lines may have been
 * left out for a slow screen. Undefined for a message that cannot be read.
 */
export function heldRecordOf({
  message,
  direction,
  text,
  t,
  conversation,
}: HeldEvent): HeldRecord | undefined {
  const span = findJsonValue(text)
  if (isFault(span)) return undefined
  const raw = text.slice(span.start, span.end)
  const { batch, parts } = partsOf(raw)
  if (parts.length === 0) return undefined
  return {
    type: 'held',
    t,
    direction,
    raw,
    batch,
    parts: parts.map(({ start, end }, i): Part => {
      const id = i === 0 ? { id: message } : {}
      return { ...id, envelope: readEnvelope(raw, start), start, end }
    }),
    ...(conversation !== undefined && { conversation }),
  }
}
