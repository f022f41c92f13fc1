import type { Envelope } from '../model/index.js'
import { saidBy, type ClientFrame } from '../link/index.js'
import { readEnvelope } from '../wire/index.js'
import type { ParamHeaders } from './param-headers.js'

/**
 * The facts about messages sent together that a transport needs.
 *
 * @param known envelopes of messages, where already read
 */
export function clientFrame(
  text: string,
  messages: readonly string[],
  paramHeaders?: ParamHeaders,
  known: readonly (Envelope | undefined)[] = [],
): ClientFrame {
  const envelopes = messages.map((message, i) => known[i] ?? readEnvelope(message, 0))
  const requests = envelopes.filter(({ kind }) => kind === 'request').length
  const [first] = envelopes
  if (!first || envelopes.length > 1) return { text, requests }
  const { method, subject, modern } = first
  const headers =
    modern && method === 'tools/call' && subject !== undefined
      ? paramHeaders?.of(messages[0]!, subject)
      : undefined
  return {
    text,
    requests,
    ...saidBy(first),
    ...(headers && { headers }),
  }
}
