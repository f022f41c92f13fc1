import type { HttpHeaders } from '../model/index.js'
import { redactCredential, type CredentialFacts } from './credentials.js'
import { marker } from './marker.js'
import { looksLikeCredentials, looksMade } from './secret-looks.js'
import { judgeName, nameCache, secretTermOf } from './secret-names.js'
import { hasTrigger } from './trigger.js'
import { tooManyRule } from './finding.js'

/** Headers that are secret as a whole, besides those with a telling name. A session id works like a bearer token. */
const secretHeaders = new Set([
  'cookie',
  'set-cookie',
  'dpop',
  'x-api-key',
  'mcp-session-id',
  'x-mcp-remote-auth',
])
/** The scheme of these headers is kept. */
const credentials = new Set(['authorization', 'proxy-authorization'])
/** Parameters of OAuth requests and of legacy SSE endpoints that no name rule covers. */
const secretParameters = new Set([
  'code',
  'code_verifier',
  'client_assertion',
  'assertion',
  'device_code',
  'sessionid',
  'session_id',
  // Fields of login forms, on the way to an authorization code.
  'otp',
  'totp',
  'pin',
  'mfa_code',
  'one_time_code',
  'verification_code',
  'security_code',
])
/** Longer addresses cannot be requested, and are replaced as a whole. */
const longestEndpoint = 262_144
/** Headers whose value is a URL: a redirect has the authorization code in its query. */
const urlHeaders = new Set(['location', 'content-location', 'referer'])

/** A redactor's functions for texts and counts. */
export interface HttpRules {
  counted(rule: string): void
  text(text: string): string
  /** Facts about a credential that may be kept. @default none */
  readonly credential?: (secret: string) => CredentialFacts
  /** Names are always checked, since a user's rules apply to them too. */
  readonly always?: boolean
}

/** Further rules for headers. */
export interface HeaderRules extends HttpRules {
  /** How many times `counted` was called. */
  total(): number
  readonly clean: CleanHeaders
}

const mostClean = 1_000
const longestClean = 200

/** Headers known to be free of secrets: clients and servers send the same ones in every exchange. Bounded. */
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

/** Returns the same list if there are no secrets. */
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

/** Caches names, since they recur. */
const suspiciousNames = nameCache((name) => hasTrigger(name))

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

/** Shorter ids can be guessed, so their number of characters is recorded. */
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

/** Redacts parameters of the query and of the fragment, which carries the tokens of the implicit flow. */
function withoutSecretParameters(url: string, rules: HttpRules): string {
  const [, before, query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? []
  if (before === undefined) return url
  const redacted = (part: string | undefined): string =>
    part === undefined ? '' : part.charAt(0) + redactParameters(part.slice(1), rules)
  return before + redacted(query) + redacted(fragment)
}

/** A query or a form with secret values redacted. @param query without its question mark */
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

/** Parameters that sign a URL, and keys: secret if they look like it. */
const signing = /^(?:sig|signature|x-amz-signature|x-goog-signature|key|hmac|hash|auth|pass|t|k|.*[-_]key)$/i

/** The term of a parameter whose value makes it a secret. */
export function signatureOf(name: string, value: string): string | undefined {
  return signing.test(name) && value.length >= 12 && looksLikeCredentials(decoded(value), false)
    ? name.toLowerCase()
    : undefined
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
/** Parts of a path that precede a secret. */
const announcing = /^(?:s|t|k|key|token|secret|auth|api-key|hook|webhook)$/i

/** A path with keys redacted: parts that look machine-made, after `/s/` and the like, or anywhere near MCP. */
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
 * An address with possible sessions redacted: the values of all parameters, and parts of the path that look
 * machine-made.
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

/** Long, or with digits: `messages` and `v1` are names, `5e2a…` is a session. */
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
