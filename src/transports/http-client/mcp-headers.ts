import type { ClientFrame } from './client-frame.js'

/** Requests whose subject stands in a header, from 2026-07-28 on. */
const named: ReadonlySet<string | undefined> = new Set(
  'tools/call resources/read prompts/get tasks/get tasks/update tasks/cancel'.split(' '),
)

/** The headers that say again what a message of the modern era says in its body (2026-07-28). */
export function mirroredHeaders({ method, name, protocolVersion }: ClientFrame): [string, string][] {
  if (protocolVersion === undefined || method === undefined) return []
  const headers: [string, string][] = [
    ['MCP-Protocol-Version', protocolVersion],
    ['Mcp-Method', method],
  ]
  if (name !== undefined && named.has(method)) headers.push(['Mcp-Name', headerValue(name)])
  return headers
}

/** A value that is not plain ASCII, has space around it, or looks like the marker, goes as base64 of its UTF-8. */
export function headerValue(value: string): string {
  const isPlain =
    /^[\u0021-\u007e](?:[\t\u0020-\u007e]*[\u0021-\u007e])?$/.test(value) && !value.startsWith('=?base64?')
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}
