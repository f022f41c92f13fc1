import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Commands of a page to a live capture. */
export const commandPath = /^\/api\/control\/([\w-]{1,64})$/

/** Deletes a recording. */
export const deletePath = /^\/api\/recordings\/([\w-]{1,64})\/delete$/

/** Sessions of pages with servers: connecting and commands. */
export const sessionPath = /^\/api\/sessions(?:\/([\w-]{1,64}))?$/

/** Rules of a capture. */
export const rulesPath = /^\/api\/control\/([\w-]{1,64})\/rules$/

export const savedPath = '/api/saved'

/** Queries. */
export const sqlPath = '/api/sql'

/** Paths that require POST. */
const actingPaths = [commandPath, deletePath, sessionPath, rulesPath]

/** Why a request is refused; undefined if allowed. */
export type Refusal = { readonly status: number; readonly why: string } | undefined

/**
 * Refuses requests of other sites by Host, Origin and Sec-Fetch-Site: every page in a browser can reach a loopback
 * server.
 */
export function createGuard(port: number): (request: IncomingMessage) => Refusal {
  const hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`])
  return (request) => {
    const { method, headers, url = '' } = request
    if (!URL.canParse(url, 'http://localhost')) return { status: 400, why: 'invalid address' }
    const isCommand =
      method === 'POST' &&
      (url === savedPath || url === sqlPath || actingPaths.some((path) => path.test(url)))
    if (method !== 'GET' && method !== 'HEAD' && !isCommand)
      return { status: 405, why: 'only GET is supported here' }
    if (!hosts.has(headers.host ?? '')) return { status: 403, why: 'the Host header names another server' }
    const { origin } = headers
    if (origin !== undefined && !hosts.has(origin.replace(/^http:\/\//, '')))
      return { status: 403, why: 'the request comes from a page of another site' }
    const site = headers['sec-fetch-site']
    const isNavigation = headers['sec-fetch-mode'] === 'navigate'
    if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation)
      return { status: 403, why: 'the request comes from a page of another site' }
    return undefined
  }
}

/** Credential of an Authorization header with this scheme. */
export function credentialOf({ headers }: IncomingMessage, scheme: 'Bearer' | 'Once'): string {
  const { authorization = '' } = headers
  return authorization.startsWith(`${scheme} `) ? authorization.slice(scheme.length + 1) : ''
}

/** Constant-time comparison. */
export function isSame(given: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(secret))
}
