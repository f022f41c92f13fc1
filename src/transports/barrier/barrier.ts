import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isLoopback } from '../http-proxy/admission.js'
import { createPeers } from './peers.js'
import { systemTables, type SocketTables } from './system-tables.js'

/** Access to a listening address for users other than our own and root. */
export interface Access {
  /** Admits every user who can connect. @default false */
  readonly openToAllUsers?: boolean
  /**
   * The secret of clients with an unknown user: 32 hexadecimal digits. Called only where such clients are possible.
   * @default one for this run
   */
  readonly secret?: () => string
  /** Admits clients with an unknown user, because another check covers them. @default false */
  readonly admitsUnknown?: boolean
  /** Gets one line for each user who is refused. */
  readonly onNotice?: (line: string) => void
  /** @default the system's own */
  readonly tables?: SocketTables
}

/** The one check of the user at the other end of a connection. */
export interface Barrier {
  /** First part of the path in the URL of local clients: '' where the system identifies the user of a connection. */
  readonly prefix: string
  /** The same for clients on other hosts; undefined where none can connect. */
  readonly remotePrefix: string | undefined
  /** User name and password in the URL of a proxy, with its `@`; '' where the system identifies the user. */
  readonly proxyLogin: string
  /**
   * Admits a request, or refuses it with a response. Removes the secret from its path.
   *
   * @returns the prefix that its client uses; undefined when the request was refused
   */
  admit(request: IncomingMessage, response: ServerResponse): string | undefined
  /**
   * The same for a request to a proxy. Removes the login from its headers.
   *
   * @returns the reason of a refusal; undefined when the request may pass
   */
  refusesProxy(request: IncomingMessage): { readonly status: 403 | 407; readonly why: string } | undefined
}

const proxyUser = 'wiretape'
/** The secret as a path segment: at the start, or at the place of path metadata (RFC 9728, 3.1). */
const secretPart = /^((?:\/\.well-known\/[^/?#]+)?)\/wiretape-([0-9a-f]{32})(?=[/?#]|$)/
/** Users for whom a notice is written. */
const mostNotices = 10

export function newSecret(): string {
  return randomBytes(16).toString('hex')
}

/**
 * Guards a server that is already listening.
 *
 * @param address the address on which it listens
 */
export function raiseBarrier(server: Server, address: string, port: number, access: Access): Barrier {
  const { openToAllUsers = false, admitsUnknown = false, tables = systemTables() } = access
  const uid = process.geteuid?.() ?? -1
  const peers = createPeers(tables, uid, { address, port })
  const isOpen = !isLoopback(address)
  const needsSecret = (!peers.tells || isOpen) && !admitsUnknown
  const secret = needsSecret ? (access.secret ?? newSecret)() : undefined
  const prefix = secret === undefined || openToAllUsers ? '' : `/wiretape-${secret}`
  const told = new Set<string>()
  if (peers.tells && !openToAllUsers) {
    // `net.createServer` takes the same option. Nothing is read from a connection before its user is known.
    ;(server as { pauseOnConnect?: boolean }).pauseOnConnect = true
    server.on('connection', (socket) => {
      if (peers.knows(socket)) return
      void peers.look(socket).then(() => socket.resume())
    })
  }

  /** Why a connection without the secret is refused. */
  function whyNot(socket: Socket): string | undefined {
    if (openToAllUsers) return undefined
    const peer = peers.tells ? peers.of(socket) : 'unknown'
    if (peer === uid || peer === 0 || (peer === 'unknown' && admitsUnknown)) return undefined
    const why =
      peer === 'unknown' ? whyUnknown(secret !== undefined) : `it comes from another user (uid ${peer})`
    if (!told.has(why) && told.size < mostNotices) {
      told.add(why)
      access.onNotice?.(`a connection was refused: ${why}; use --open-to-all-users to admit all users`)
    }
    return `${why}; only the user who started wiretape may use this address (--open-to-all-users changes that)`
  }

  function isSecret(given: string): boolean {
    return secret !== undefined && given.length === secret.length && equal(given, secret)
  }

  /** Removes the secret from a path. */
  function taken(request: IncomingMessage): boolean {
    const { url = '' } = request
    const [part = '', before = '', given = ''] = secretPart.exec(url) ?? []
    if (!isSecret(given)) return false
    const rest = url.slice(part.length)
    request.url = before + (before === '' && !rest.startsWith('/') ? `/${rest}` : rest)
    return true
  }

  return {
    prefix: peers.tells ? '' : prefix,
    remotePrefix: isOpen ? prefix : undefined,
    proxyLogin: prefix === '' || peers.tells ? '' : `${proxyUser}:${secret}@`,
    admit(request, response) {
      if (secret !== undefined && taken(request)) return `/wiretape-${secret}`
      const why = whyNot(request.socket)
      if (why === undefined) return ''
      refuse(request, response, why)
      return undefined
    },
    refusesProxy(request) {
      if (secret !== undefined && takenLogin(request, isSecret)) return undefined
      const why = whyNot(request.socket)
      if (why === undefined) return undefined
      return { why, status: peers.tells ? 403 : 407 }
    },
  }
}

function whyUnknown(hasSecret: boolean): string {
  return hasSecret
    ? 'the secret of this address is missing'
    : 'the system does not report which user it comes from'
}

/** Removes our login from a request to a proxy. */
function takenLogin({ rawHeaders }: IncomingMessage, isSecret: (given: string) => boolean): boolean {
  for (let n = 0; n + 1 < rawHeaders.length; n += 2) {
    if (rawHeaders[n]!.toLowerCase() !== 'proxy-authorization') continue
    const encoded = /^basic +([\w+/=]{1,200})$/i.exec(rawHeaders[n + 1]!)?.[1] ?? ''
    const [user, password = ''] = Buffer.from(encoded, 'base64').toString('latin1').split(':', 2)
    if (user !== proxyUser || !isSecret(password)) continue
    rawHeaders.splice(n, 2)
    return true
  }
  return false
}

/** Takes the same time wherever the two differ. Both have the same length. */
function equal(given: string, secret: string): boolean {
  const [one, other] = [Buffer.from(given, 'latin1'), Buffer.from(secret, 'latin1')]
  return one.length === other.length && timingSafeEqual(one, other)
}

function refuse(request: IncomingMessage, response: ServerResponse, why: string): void {
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  request.resume()
  response.writeHead(403, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' })
  response.end(`wiretape refused this request: ${why}.\n`)
}
