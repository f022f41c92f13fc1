import type { MessageRecord } from '../../src/model/index.js'
import { foreignMessage } from '../../src/formats/foreign/records.js'

export const startedAt = '2026-08-01T10:00:00.000Z'

/** A message that was seen so long after the start. */
export function said(
  direction: 'in' | 'out',
  us: number,
  raw: string,
  more: Partial<MessageRecord> = {},
): MessageRecord {
  const t = new Date(Date.parse(startedAt) + us / 1000).toISOString()
  const from = direction === 'in' ? 'client_to_server' : 'server_to_client'
  return { ...foreignMessage(raw, { t, direction: from }), us, ...more }
}
