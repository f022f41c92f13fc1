import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Why a request is refused; undefined when it may pass. */
export type Refusal = { readonly status: number; readonly why: string } | undefined

/**
 * Who may ask. The server listens on loopback, where every local program and every web page that a browser shows
 * can reach it: a page is kept out by Host, Origin and Sec-Fetch-Site, whoever else by the token.
 */
export function createGuard(token: string, port: number): (request: IncomingMessage) => Refusal {
  const hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`])
  return (request) => {
    const { method, headers, url = '' } = request
    if (!URL.canParse(url, 'http://localhost')) return { status: 400, why: 'this is no address' }
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, why: 'only GET is answered here' }
    if (!hosts.has(headers.host ?? '')) return { status: 403, why: 'the Host header names another server' }
    const { origin } = headers
    if (origin !== undefined && !hosts.has(origin.replace(/^http:\/\//, '')))
      return { status: 403, why: 'a page of another site asked' }
    const site = headers['sec-fetch-site']
    const isNavigation = headers['sec-fetch-mode'] === 'navigate'
    if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation)
      return { status: 403, why: 'a page of another site asked' }
    if (tokensOf(request, port).some((given) => isSame(given, token))) return undefined
    return { status: 403, why: 'the token is missing or wrong: open the address that wiretape printed' }
  }
}

/** The cookie that keeps the token, apart from those of other servers on this machine. */
export function cookieName(port: number): string {
  return `wiretape-${port}`
}

function tokensOf({ url = '', headers }: IncomingMessage, port: number): string[] {
  const given: string[] = []
  const inQuery = new URL(url, 'http://localhost').searchParams.get('token')
  if (inQuery !== null) given.push(inQuery)
  if (headers.authorization?.startsWith('Bearer ')) given.push(headers.authorization.slice(7))
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === cookieName(port) && value !== undefined) given.push(value)
  }
  return given
}

/** In a time that tells nothing about how much of it is right. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
