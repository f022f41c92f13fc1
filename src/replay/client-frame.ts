import type { HttpHeaders } from '../model/index.js'
import type { ClientFrame } from '../transports/index.js'
import { readEnvelope } from '../wire/index.js'

/** What a transport has to know about messages that go out together. */
export function clientFrame(text: string, messages: readonly string[], recorded?: HttpHeaders): ClientFrame {
  const envelopes = messages.map((message) => readEnvelope(message, 0))
  const requests = envelopes.filter(({ kind }) => kind === 'request').length
  // Arguments that stand in headers (2026-07-28); the others are made anew.
  const headers = (recorded ?? []).filter(([name]) => /^mcp-param-/i.test(name))
  const [first] = envelopes
  if (!first || envelopes.length > 1) return { text, requests, headers }
  const { method, subject, protocolVersion, modern } = first
  return {
    text,
    requests,
    headers,
    ...(method !== undefined && { method }),
    ...(subject !== undefined && { name: subject }),
    ...(modern && protocolVersion !== undefined && { protocolVersion }),
  }
}
