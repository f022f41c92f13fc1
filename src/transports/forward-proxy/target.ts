import { asUrlHost } from '../http-proxy/admission.js'

/** The destination of a request. */
export interface Target {
  /** Scheme, host and port; nothing else. */
  readonly url: URL
  /** For sockets: an IPv6 address without brackets. */
  readonly hostname: string
  readonly port: number
  /** `host:port`, for people and as a key. */
  readonly name: string
}

const absolute = /^(https?):\/\/([^/?#\\\s]*)([^]*)$/i
const authority = /^(\[[0-9a-f:.]+\]|[^:[\]@\s/?#\\]+)(?::(\d{1,5}))?$/i

/** The target of CONNECT: `host:port`. Undefined when the text is not one. */
export function parseAuthority(text: string): Target | undefined {
  const port = Number(authority.exec(text)?.[2])
  return Number.isNaN(port) ? undefined : targetOf('http', text)
}

/** The absolute-form target of a plain request through a proxy (RFC 9112, 3.2.2), with its path unchanged. */
export function parseAbsolute(
  text: string,
  method: string,
): { readonly target: Target; readonly path: string; readonly host: string } | undefined {
  const [, scheme = '', host = '', rest = ''] = absolute.exec(text) ?? []
  const target = targetOf(scheme.toLowerCase(), host)
  if (!target) return undefined
  const path = rest.startsWith('/') ? rest : rest === '' && method === 'OPTIONS' ? '*' : `/${rest}`
  return { target, path: path.split('#')[0]!, host }
}

/** The same place over TLS. */
export function secured({ hostname, port }: Target): Target {
  return targetOf('https', `${asUrlHost(hostname)}:${port}`)!
}

export function targetOfUrl({ protocol, host }: URL): Target | undefined {
  return targetOf(protocol.slice(0, -1), host)
}

function targetOf(scheme: string, host: string): Target | undefined {
  const text = `${scheme}://${host}`
  if (!authority.test(host) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const port = Number(url.port || (scheme === 'https' ? 443 : 80))
  if (port === 0) return undefined
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return { url, hostname, port, name: `${url.hostname}:${port}` }
}
