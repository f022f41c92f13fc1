import type { Envelope } from '../model/index.js'
import { saidBy, type ClientFrame } from '../link/index.js'
import { readEnvelope } from '../wire/index.js'
import type { ParamHeaders } from './param-headers.js'

/**
 * What a transport has to know about messages that go out together.
 *
 * @param known the envelopes of messages, where they were read already
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
