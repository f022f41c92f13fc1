import { marker } from './marker.js'

/** Facts about a credential that may stay in a header. */
export interface CredentialFacts {
  /** Equal for equal credentials under one key; hexadecimal digits. Empty if there is none. */
  readonly tag: string
  /** Servers named as audience of a JWT (`aud`, RFC 7519), without query; their addresses are not secret. */
  readonly audiences: readonly string[]
}

const longestToken = 16_384
const mostAudiences = 5
const longestAudience = 200
/** A credential that is already redacted. */
const taken = /^(?:[A-Za-z][\w-]{0,30} )?\[REDACTED\](?: tag=[\da-f]{16})?(?: aud=[^\s@?#]{1,200}){0,5}$/

/**
 * An `Authorization` header without its secret: `Bearer [REDACTED] tag=3f2a… aud=https://api.example.com/mcp`.
 *
 * @returns undefined if the secret is already redacted
 */
export function redactCredential(
  value: string,
  factsOf: (secret: string) => CredentialFacts = () => ({ tag: '', audiences: [] }),
): string | undefined {
  if (taken.test(value)) return undefined
  const [, scheme, secret = value] = /^\s*([A-Za-z][\w-]{0,30})\s+(\S.*)$/s.exec(value) ?? []
  const { tag, audiences } = factsOf(secret)
  return [
    ...(scheme === undefined ? [] : [scheme]),
    marker,
    ...(tag === '' ? [] : [`tag=${tag}`]),
    ...audiences.map((audience) => `aud=${audience}`),
  ].join(' ')
}

/** Caches the facts, since a client sends the same credential with each request. */
export class Credentials {
  readonly #tag: (secret: string) => string
  #secret = ''
  #facts: CredentialFacts = { tag: '', audiences: [] }

  constructor(tag: (secret: string) => string) {
    this.#tag = tag
  }

  factsOf(secret: string): CredentialFacts {
    if (secret !== this.#secret) {
      this.#facts = { tag: this.#tag(secret), audiences: audiencesOf(secret) }
      this.#secret = secret
    }
    return this.#facts
  }
}

function audiencesOf(token: string): string[] {
  const [, payload, signature] = token.length > longestToken ? [] : token.split('.')
  if (payload === undefined || signature === undefined) return []
  try {
    const { aud } = JSON.parse(fromBase64Url(payload)) as { aud?: unknown }
    return (Array.isArray(aud) ? aud : [aud]).slice(0, mostAudiences).flatMap(addressOf)
  } catch {
    return []
  }
}

function fromBase64Url(text: string): string {
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
    char.charCodeAt(0),
  )
  return new TextDecoder().decode(bytes)
}

/** Other audiences are arbitrary names chosen by the issuer, which do not help a reader. */
function addressOf(audience: unknown): string[] {
  if (typeof audience !== 'string' || audience.length > longestAudience || !URL.canParse(audience)) return []
  const { protocol, host, pathname } = new URL(audience)
  return /^https?:$/.test(protocol) ? [`${protocol}//${host}${pathname}`] : []
}
