import type { HttpHeaders } from '../model/index.js'
import { redactCredential, type CredentialFacts } from './credentials.js'
import { marker } from './marker.js'
import { looksLikeCredentials, looksMade } from './secret-looks.js'
import { judgeName, NameCache, secretTermOf } from './secret-names.js'
import { hasTrigger } from './trigger.js'
import { tooManyRule } from './finding.js'

/** Headers that are secrets as a whole, besides those whose name says so. A session id works like a bearer token. */
const secretHeaders = new Set([
  'cookie',
  'set-cookie',
  'dpop',
  'x-api-key',
  'mcp-session-id',
  'x-mcp-remote-auth',
])
/** Of these the scheme stays. */
const credentials = new Set(['authorization', 'proxy-authorization'])
/** Parameters of OAuth exchanges and of legacy SSE endpoints that no name rule knows. */
const secretParameters = new Set([
  'code',
  'code_verifier',
  'client_assertion',
  'assertion',
  'device_code',
  'sessionid',
  'session_id',
  // What login forms ask for, on the way to an authorization code.
  'otp',
  'totp',
  'pin',
  'mfa_code',
  'one_time_code',
  'verification_code',
  'security_code',
])
/** No request could go to a longer one: it is replaced whole. */
const longestEndpoint = 262_144
/** Headers whose value is a URL: an authorization code travels in the query of a redirect. */
const urlHeaders = new Set(['location', 'content-location', 'referer'])

/** What a redactor does to the texts of its other rules. */
export interface HttpRules {
  counted(rule: string): void
  text(text: string): string
  /** Facts about a credential that may stay. @default nothing */
  readonly credential?: (secret: string) => CredentialFacts
  /** A user's rules look at names too. */
  readonly always?: boolean
}

/** What headers need besides. */
export interface HeaderRules extends HttpRules {
  /** How often `counted` was called. */
  total(): number
  readonly clean: CleanHeaders
}

const mostClean = 1_000
const longestClean = 200

/** Headers without secrets: clients and servers send the same ones in every exchange. Bounded. */
export class CleanHeaders {
  readonly #values = new Map<string, Set<string>>()
  #size = 0

  has([name, value]: readonly [string, string]): boolean {
    return this.#values.get(name)?.has(value) === true
  }

  add([name, value]: readonly [string, string]): void {
    if (name.length + value.length > longestClean) return
    if (this.#size >= mostClean) {
      this.#values.clear()
      this.#size = 0
    }
    const values = this.#values.get(name)
    if (values) values.add(value)
    else this.#values.set(name, new Set([value]))
    this.#size += 1
  }
}

/** The same list where nothing was found. */
export function redactHeaders(headers: HttpHeaders, rules: HeaderRules): HttpHeaders {
  let redacted: (readonly [string, string])[] | undefined
  for (const [i, header] of headers.entries()) {
    const safe = redactHeader(header, rules)
    if (safe !== header) redacted ??= headers.slice(0, i)
    redacted?.push(safe)
  }
  return redacted ?? headers
}

function redactHeader(header: readonly [string, string], rules: HeaderRules): readonly [string, string] {
  if (rules.clean.has(header)) return header
  const before = rules.total()
  const [name, value] = header
  const safe = [headerName(name, rules), headerValue(name.toLowerCase(), value, rules)] as const
  if (rules.total() > before || safe[0] !== name || safe[1] !== value) return safe
  rules.clean.add(header)
  return header
}

/** Names come again and again. */
const suspiciousNames = new NameCache((name) => hasTrigger(name))

function headerName(name: string, rules: HttpRules): string {
  return rules.always === true || suspiciousNames.get(name) ? rules.text(name) : name
}

function headerValue(name: string, value: string, rules: HttpRules): string {
  if (value === '') return value
  if (credentials.has(name)) {
    const redacted = redactCredential(value, rules.credential)
    if (redacted === undefined) return rules.text(value)
    rules.counted(`header:${name}`)
    return redacted
  }
  if (name === 'mcp-session-id' && (value.length < shortSession || value.startsWith(marker)))
    return shortened(value, rules)
  if (secretHeaders.has(name) || isNamedSecret(name, value)) {
    rules.counted(`header:${name}`)
    return marker
  }
  return rules.text(urlHeaders.has(name) ? withoutSecretParameters(value, rules) : value)
}

/** An id of fewer characters can be guessed: how many it has is told. */
const shortSession = 16

function shortened(id: string, rules: HttpRules): string {
  if (id.startsWith(marker)) return id
  rules.counted('header:mcp-session-id')
  return `${marker} (${id.length} ${id.length === 1 ? 'character' : 'characters'})`
}

function isNamedSecret(name: string, value: string): boolean {
  const verdict = judgeName(name)
  if (verdict === undefined || verdict.needs === 'made') return false
  return verdict.needs === 'any' || looksLikeCredentials(value, false)
}

/** The parameters of the query, and of the fragment, where the implicit flow has its tokens. */
function withoutSecretParameters(url: string, rules: HttpRules): string {
  const [, before, query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? []
  if (before === undefined) return url
  const redacted = (part: string | undefined): string =>
    part === undefined ? '' : part.charAt(0) + redactParameters(part.slice(1), rules)
  return before + redacted(query) + redacted(fragment)
}

/** A query or a form without the values that are secrets. @param query without its question mark */
export function redactParameters(query: string, rules: HttpRules): string {
  return query
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=')
      if (at === -1 || at === pair.length - 1) return pair
      const name = decoded(pair.slice(0, at))
      const known = secretParameters.has(name.toLowerCase())
        ? name.toLowerCase()
        : (secretTermOf(name) ?? signatureOf(name, pair.slice(at + 1)))
      if (known === undefined) return pair
      rules.counted(`parameter:${known}`)
      return `${pair.slice(0, at)}=${marker}`
    })
    .join('&')
}

/** Parameters that sign a URL, and keys: secrets when they look like it. */
const signing = /^(?:sig|signature|x-amz-signature|x-goog-signature|key|hmac|hash|auth|pass|t|k|.*[-_]key)$/i

/** The name under which a parameter goes because of its value. */
export function signatureOf(name: string, value: string): string | undefined {
  return signing.test(name) && value.length >= 12 && looksLikeCredentials(decoded(value), false)
    ? name.toLowerCase()
    : undefined
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
/** Parts of a path behind which a secret stands. */
const announcing = /^(?:s|t|k|key|token|secret|auth|api-key|hook|webhook)$/i

/** A path whose parts that can only be keys are gone: what looks made behind `/s/`, or anywhere around MCP. */
export function redactPathKeys(path: string, rules: HttpRules): string {
  if (path.length > 8192) return path
  const parts = path.split('/')
  const aroundMcp = /mcp|sse/i.test(path)
  return parts
    .map((part, i) => {
      const isKey = announcing.test(parts[i - 1] ?? '')
      const isMade = uuid.test(part) ? aroundMcp : looksMade(part) && looksCredential(part, isKey)
      if (
        !(isMade || (isKey && part.length >= 8 && /\d/.test(part))) ||
        part.includes(':') ||
        part.includes('.')
      )
        return part
      rules.counted('url:path')
      return marker
    })
    .join('/')
}

function looksCredential(part: string, isKey: boolean): boolean {
  return looksLikeCredentials(part, false) && (isKey || part.length >= 20)
}

/**
 * An address without what may be a session in it: the values of all parameters, and parts of the path that look made
 * by a machine.
 */
export function redactEndpoint(address: string, rules: HttpRules): string {
  if (address.length > longestEndpoint) {
    rules.counted(tooManyRule)
    return marker
  }
  const [, place = '', query, rest = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(address) ?? []
  const [origin = ''] = /^[a-z]+:\/\/[^/]*/i.exec(place) ?? []
  const path = place
    .slice(origin.length)
    .split('/')
    .map((part) => {
      if (!looksLikeSession(part)) return part
      rules.counted('endpoint:path')
      return marker
    })
  const parameters = query
    ?.slice(1)
    .split('&')
    .map((pair) => {
      const at = pair.indexOf('=')
      if (at === -1 || at === pair.length - 1) return pair
      rules.counted('endpoint:parameter')
      return pair.slice(0, at + 1) + marker
    })
  return origin + path.join('/') + (parameters ? `?${parameters.join('&')}` : '') + rest
}

/** Long, or of letters and digits: `messages` and `v1` are names, `5e2a…` is a session. */
function looksLikeSession(part: string): boolean {
  return part.length >= 24 || (part.length >= 8 && /\d/.test(part))
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
