import type { HttpHeaders, Transport } from '../../model/index.js'
import type { Recording } from '../format.js'
import { headerOf } from './headers.js'
import { createResentFinder, type Resent } from './resent.js'

/** Facts about a recording that are needed before the first entry is written. */
export interface Facts {
  readonly transport: Transport | undefined
  /** Headers with a single value in the whole recording. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** `Last-Event-ID` of the requests that have one, by exchange. */
  readonly lastEventIds: ReadonlyMap<number, string>
  readonly resent: Resent
}

const ofTheSession = ['MCP-Protocol-Version', 'Mcp-Session-Id']

export async function factsOf(recording: Recording): Promise<Facts> {
  let transport: Transport | undefined
  const values = new Map<string, Set<string>>(ofTheSession.map((name) => [name, new Set()]))
  const lastEventIds = new Map<number, string>()
  const resent = createResentFinder()
  function see(headers: HttpHeaders | undefined): void {
    if (!headers) return
    for (const [name, seen] of values) {
      const value = headerOf(headers, name)
      // Two different values are enough to decide.
      if (value !== undefined && seen.size < 2) seen.add(value)
    }
  }
  for await (const record of recording.records()) {
    if (record.type === 'meta') transport ??= record.wiretape?.transport ?? 'stdio'
    if (record.type !== 'message' && record.type !== 'http') continue
    resent.see(record)
    const ofRequest = record.type === 'http' ? record.requestHeaders : record.http?.headers
    const exchange = record.type === 'http' ? record.exchange : record.http?.exchange
    // For a response, `ofRequest` holds the headers of the response itself.
    const isAnswer = record.type === 'message' && record.direction === 'server_to_client'
    see(ofRequest)
    if (record.type === 'http') see(record.headers)
    const lastEventId = isAnswer ? undefined : headerOf(ofRequest, 'Last-Event-ID')
    if (exchange !== undefined && lastEventId !== undefined) lastEventIds.set(exchange, lastEventId)
  }
  const headers = [...values].flatMap(([name, seen]) =>
    seen.size === 1 ? [[name, [...seen][0]!] as const] : [],
  )
  return { transport, headers, lastEventIds, resent }
}
