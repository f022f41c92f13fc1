import type { RawHeaders } from './http-event.js'

/** They speak of one connection, not of the message (RFC 9110, 7.6.1), and are made anew on the next one. */
const ofOneHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A peer may name more of them in `Connection`, but not take the address or the framing away. */
const neverOfOneHop = new Set(['host', 'content-length'])

export type HeaderPair = readonly [name: string, value: string]

export function pairsOf(headers: RawHeaders): [name: string, value: string][] {
  const pairs: [string, string][] = []
  for (let n = 0; n + 1 < headers.length; n += 2) pairs.push([headers[n]!, headers[n + 1]!])
  return pairs
}

export function valuesOf(headers: RawHeaders, name: string): string[] {
  return pairsOf(headers).flatMap((pair) => (pair[0].toLowerCase() === name ? [pair[1]] : []))
}

/** The headers that belong to the message, in their order. */
export function endToEnd(headers: RawHeaders): HeaderPair[] {
  const named = new Set(connectionOptions(headers))
  return pairsOf(headers).filter(([name]) => {
    const key = name.toLowerCase()
    return !ofOneHop.has(key) && (!named.has(key) || neverOfOneHop.has(key))
  })
}

/** True when the sender closes the connection after this message, and says so. */
export function saysClose(headers: RawHeaders): boolean {
  return connectionOptions(headers).includes('close')
}

/** What was done to a body that comes in chunks: `chunked`, or more (`gzip, chunked`), which Node leaves as it is. */
export function transferCodings(headers: RawHeaders): string | undefined {
  const codings = valuesOf(headers, 'transfer-encoding').join(', ')
  return /\bchunked\b/i.test(codings) ? codings : undefined
}

function connectionOptions(headers: RawHeaders): string[] {
  return valuesOf(headers, 'connection').flatMap((value) =>
    value.split(',').map((option) => option.trim().toLowerCase()),
  )
}
