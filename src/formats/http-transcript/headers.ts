import type { HttpHeaders } from '../../model/index.js'

/** The headers that the format uses. All others stay on the tape. */
export const contextHeaders = {
  request: ['MCP-Protocol-Version', 'Mcp-Session-Id', 'Last-Event-ID'],
  response: ['MCP-Protocol-Version', 'Mcp-Session-Id', 'WWW-Authenticate'],
} as const

/** The value of a header, repetitions joined by the rule of RFC 9110 (5.3); undefined for none. */
export function headerOf(headers: HttpHeaders | undefined, name: string): string | undefined {
  const lowerCase = name.toLowerCase()
  const values = headers?.flatMap(([written, value]) => (written.toLowerCase() === lowerCase ? [value] : []))
  return values && values.length > 0 ? values.join(', ') : undefined
}

/**
 * Whether the response requests authorization in a form that readers recognize: they search for these two
 * parameters anywhere in the text, without parsing the challenge.
 */
export function isDiscovery(status: number | undefined, headers: HttpHeaders | undefined): boolean {
  const challenge = status === 401 ? headerOf(headers, 'WWW-Authenticate') : undefined
  return challenge !== undefined && /(?:^|[ ,\t])(?:resource_metadata|scope)=/i.test(challenge)
}
