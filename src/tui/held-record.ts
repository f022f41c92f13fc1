import type { HeldEvent } from '../control-schema/index.js'
import type { HeldRecord, Part } from '../model/index.js'
import { isFault, readMessages } from '../wire/index.js'

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
  const frame = readMessages(text)
  if (isFault(frame)) return undefined
  const { text: raw, batch, parts } = frame
  return {
    type: 'held',
    t,
    direction,
    raw,
    batch,
    parts: parts.map((part, i): Part => (i === 0 ? { id: message, ...part } : part)),
    ...(conversation !== undefined && { conversation }),
  }
}
