import type { HttpHeaders } from '../../model/index.js'

/** The headers that the format has a use for. All others stay on the tape. */
export const contextHeaders = {
  request: ['MCP-Protocol-Version', 'Mcp-Session-Id', 'Last-Event-ID'],
  response: ['MCP-Protocol-Version', 'Mcp-Session-Id', 'WWW-Authenticate'],
} as const

/** The value of a header, repeated ones joined as RFC 9110 (5.3) has it; undefined when there is none. */
export function headerOf(headers: HttpHeaders | undefined, name: string): string | undefined {
  const lowerCase = name.toLowerCase()
  const values = headers?.flatMap(([written, value]) => (written.toLowerCase() === lowerCase ? [value] : []))
  return values && values.length > 0 ? values.join(', ') : undefined
}

/**
 * Whether the answer asks for authorization in a way that readers take note of: they look for these two
 * parameters anywhere in the text, without parsing the challenge.
 */
export function isDiscovery(status: number | undefined, headers: HttpHeaders | undefined): boolean {
  const challenge = status === 401 ? headerOf(headers, 'WWW-Authenticate') : undefined
  return challenge !== undefined && /(?:^|[ ,\t])(?:resource_metadata|scope)=/i.test(challenge)
}
