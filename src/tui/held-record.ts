import type { HeldEvent } from '../control-schema/index.js'
import type { HeldRecord, Part } from '../model/index.js'
import { isFault, readMessages } from '../wire/index.js'

/**
 * The record of a held message that is missing on the tape: tapes of --strict-v1 have none, and lines may
 * have been dropped for a slow screen. Undefined for a message that cannot be read.
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
