import type { RawHeaders } from '../../wire/index.js'

/** Headers of one connection, not of the message (RFC 9110, 7.6.1). They are generated anew for the next hop. */
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

const lengthsOfOneHop = new Set([...ofOneHop].map((name) => name.length))

/** A peer may name further headers in `Connection`, but must not remove the address or the framing. */
const neverOfOneHop = new Set(['host', 'content-length'])

export function pairsOf(headers: RawHeaders): [name: string, value: string][] {
  const pairs: [string, string][] = []
  for (let n = 0; n + 1 < headers.length; n += 2) pairs.push([headers[n]!, headers[n + 1]!])
  return pairs
}

export function valuesOf(headers: RawHeaders, name: string): string[] {
  const values: string[] = []
  for (let n = 0; n + 1 < headers.length; n += 2) if (isNamed(headers[n]!, name)) values.push(headers[n + 1]!)
  return values
}

/** Replaces the values of a header in the caller's own list. @param name in lower case */
export function replaceValues(headers: string[], name: string, replace: (value: string) => string): void {
  for (let n = 0; n + 1 < headers.length; n += 2)
    if (isNamed(headers[n]!, name)) headers[n + 1] = replace(headers[n + 1]!)
}

/** Comparing the lengths first is enough for most names. */
function isNamed(known: string, name: string): boolean {
  return known.length === name.length && known.toLowerCase() === name
}

/** The headers of the message itself: alternating names and values, in their order. */
export function endToEnd(headers: RawHeaders): string[] {
  const named = connectionOptions(headers)
  const kept: string[] = []
  for (let n = 0; n + 1 < headers.length; n += 2) {
    const name = headers[n]!
    if (!isOfOneHop(name, named)) kept.push(name, headers[n + 1]!)
  }
  return kept
}

function isOfOneHop(name: string, named: readonly string[]): boolean {
  if (named.length === 0 && !lengthsOfOneHop.has(name.length)) return false
  const key = name.toLowerCase()
  return ofOneHop.has(key) || (named.includes(key) && !neverOfOneHop.has(key))
}

/** Whether the sender announces that it closes the connection after this message. */
export function saysClose(headers: RawHeaders): boolean {
  return connectionOptions(headers).includes('close')
}

/** Transfer codings of a chunked body: `chunked`, or more (`gzip, chunked`), which Node leaves untouched. */
export function transferCodings(headers: RawHeaders): string | undefined {
  const codings = valuesOf(headers, 'transfer-encoding').join(', ')
  return /\bchunked\b/i.test(codings) ? codings : undefined
}

const none: readonly string[] = []
const keepAlive: readonly string[] = ['keep-alive']

function connectionOptions(headers: RawHeaders): readonly string[] {
  const values = valuesOf(headers, 'connection')
  if (values.length === 0) return none
  // The most common value.
  if (values.length === 1 && values[0] === 'keep-alive') return keepAlive
  return values.flatMap((value) => value.split(',').map((option) => option.trim().toLowerCase()))
}
