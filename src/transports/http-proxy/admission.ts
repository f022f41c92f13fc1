import type { RawHeaders } from '../../wire/index.js'
import { valuesOf } from './hop-headers.js'

/** The listening address and the upstream, as the checks need them. */
export interface ProxyAddress {
  /** The host on which the user asked us to listen. */
  readonly host: string
  readonly port: number
  /** Whether other machines can reach the address. */
  readonly open: boolean
  readonly upstreamOrigin: string
}

/**
 * The reason why a request is refused, as a sentence; undefined when it may pass. A web page in a browser can send
 * requests to us: with a host name of its own that resolves to our address (DNS rebinding), which `Host` reveals,
 * or across origins, which `Origin` reveals. The upstream cannot check `Host`, because we rewrite it.
 *
 * A GET for a page, an image or a link has no `Origin`; there, `Sec-Fetch-Site` reveals a request of another site.
 *
 * Where other machines can reach us, any `Host` passes, because we cannot know our names there. The other checks
 * remain. The origin `null` is refused: every page can get it by a sandboxed frame.
 */
export function refusalOf(headers: RawHeaders, place: ProxyAddress): string | undefined {
  const hosts = valuesOf(headers, 'host')
  if (hosts.length !== 1) return `a request needs one Host header, this one has ${hosts.length}`
  if (!place.open && !isOurHost(hosts[0]!, place)) return 'its Host header does not name this address'
  const origins = valuesOf(headers, 'origin')
  if (origins.some((origin) => !isTrusted(origin, place))) return 'its Origin header belongs to another site'
  if (origins.length > 0) return undefined
  const isForeign = valuesOf(headers, 'sec-fetch-site').some(
    (site) => !/^(same-origin|none)$/i.test(site.trim()),
  )
  return isForeign ? 'its Sec-Fetch-Site header shows that a page of another site sent it' : undefined
}

/** For URLs: an IPv6 address in brackets. */
export function asUrlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** For sockets: an IPv6 address without brackets. */
export function asSocketHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(\.\d{1,3}){3}\]?)$/i.test(host)
}

function isOurHost(value: string, { host, port }: ProxyAddress): boolean {
  // The most common value, as a fast path.
  if (value === `${host}:${port}` && !host.includes(':')) return true
  const [, name = '', given = '80'] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(value.trim().toLowerCase()) ?? []
  const ours = [asUrlHost(host).toLowerCase(), 'localhost', '127.0.0.1', '[::1]']
  return Number(given) === port && ours.includes(name)
}

function isTrusted(origin: string, { host, port, upstreamOrigin }: ProxyAddress): boolean {
  if (!URL.canParse(origin)) return false
  const url = new URL(origin)
  // An origin has no path; "http://localhost@elsewhere" is no origin either.
  if (!/^https?:$/.test(url.protocol) || url.origin !== origin.toLowerCase()) return false
  if (url.origin === upstreamOrigin || isLoopback(url.hostname)) return true
  return url.origin === originOf(host, port)
}

/** The origin of our listening address, as browsers write it. */
export function originOf(host: string, port: number): string {
  return new URL(`http://${asUrlHost(host)}:${port}`).origin
}
