import type { IncomingHttpHeaders } from 'node:http'
import { decodedHeader, isSameHeader, type Message } from '../../wire/index.js'
import type { MirroredHeaders } from '../mirrored-headers.js'

/** The first version without sessions. */
const firstModern = '2026-07-28'
const headerMismatch = -32_020
const invalidParams = -32_602

/** Judged by the version header, or by the body. */
export function isModern(headers: IncomingHttpHeaders, messages: readonly Message[]): boolean {
  const version = headers['mcp-protocol-version']
  if (typeof version === 'string' && version >= firstModern && /^\d{4}-\d\d-\d\d$/.test(version)) return true
  return messages.some(({ envelope }) => envelope.modern)
}

/** The mismatch between a request's headers and its body, for which it is refused (2026-07-28). */
export function headerFault(
  headers: IncomingHttpHeaders,
  message: Message,
  mirrored: MirroredHeaders,
): { readonly code: number; readonly why: string } | undefined {
  const mismatch = (why: string): { code: number; why: string } => ({ code: headerMismatch, why })
  const { envelope } = message
  if (headers['mcp-protocol-version'] === undefined)
    return mismatch('the header MCP-Protocol-Version is missing')
  if (!envelope.modern) {
    const why = 'params._meta has no io.modelcontextprotocol/protocolVersion'
    return envelope.kind === 'request' ? { code: invalidParams, why } : undefined
  }
  for (const [name, value] of mirrored.of(message)) {
    const given = headers[name.toLowerCase()]
    if (typeof given !== 'string') return mismatch(`the header ${name} is missing`)
    const said = decodedHeader(given.trim())
    const meant = decodedHeader(value)
    if (said === undefined) return mismatch(`the header ${name} has an invalid value`)
    if (!isSameHeader(said, meant!)) return mismatch(`the header ${name} does not match the body`)
  }
  return undefined
}
