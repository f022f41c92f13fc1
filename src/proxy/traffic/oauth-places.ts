import { JsonObject } from '../../wire/index.js'

/** The URLs of OAuth for MCP servers, as they become known (RFC 8414, RFC 9728). */
export interface OAuthPlaces {
  /** The MCP server to which an exchange at this URL belongs. */
  ownerOf(url: URL): string | undefined
  /** A server's challenge names its metadata (RFC 9728, 5.1). */
  challenged(server: string, challenge: string): void
  /** Reads the metadata of a server, or of its authorization server. */
  learn(server: string, document: string): void
}

/** Metadata members whose values are URLs that a client uses. */
const endpoints = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'introspection_endpoint',
  'pushed_authorization_request_endpoint',
  'device_authorization_endpoint',
  'userinfo_endpoint',
  'jwks_uri',
]
/** URLs that are remembered. */
const mostPlaces = 10_000

const metadata =
  /\/\.well-known\/(oauth-protected-resource|oauth-authorization-server|openid-configuration)(?=\/|$)/
/** Default endpoints without metadata (2025-03-26). */
const fallback = /^\/(authorize|token|register)$/

export function isMetadata(url: URL): boolean {
  return metadata.test(url.pathname)
}

/** A default endpoint on the server's own origin, for a server without metadata. */
export function isFallback(url: URL): boolean {
  return fallback.test(url.pathname)
}

export function createOAuthPlaces(): OAuthPlaces {
  const endpointOwners = new Map<string, string>()
  /** Only the metadata at these URLs belong to OAuth; other content may have the same URL. */
  const issuerOwners = new Map<string, string>()

  return {
    ownerOf: (url) =>
      endpointOwners.get(placeOf(url)) ?? (isMetadata(url) ? issuerOwners.get(issuerOf(url)) : undefined),
    challenged(server, challenge) {
      claim(endpointOwners, server, /\bresource_metadata\s*=\s*"?([^",\s]+)/i.exec(challenge)?.[1])
    },
    learn(server, document) {
      const members = objectOf(document)
      for (const name of endpoints) claim(endpointOwners, server, members?.string(name))
      for (const issuer of members?.strings('authorization_servers') ?? [])
        claim(issuerOwners, server, issuer)
    },
  }
}

/** The last server to name a URL owns it, because several servers may share an authorization server. */
function claim(owners: Map<string, string>, server: string, text: string | undefined): void {
  if (text === undefined || !URL.canParse(text)) return
  const place = placeOf(new URL(text))
  owners.delete(place)
  owners.set(place, server)
  if (owners.size > mostPlaces) owners.delete(owners.keys().next().value!)
}

/** The origin of the MCP server in protected resource metadata. */
export function resourceOf(document: string): string | undefined {
  const resource = objectOf(document)?.string('resource')
  return resource !== undefined && URL.canParse(resource) ? new URL(resource).origin : undefined
}

/** The access token in the response of a token endpoint. */
export function tokenOf(document: string): string | undefined {
  return objectOf(document)?.string('access_token')
}

/** The issuer of metadata at a URL: the well-known part comes before its path, or after it (OpenID). */
function issuerOf({ origin, pathname }: URL): string {
  return placeOf({ origin, pathname: pathname.replace(metadata, '') })
}

function placeOf({ origin, pathname }: Pick<URL, 'origin' | 'pathname'>): string {
  return origin + pathname.replace(/\/$/, '')
}

function objectOf(text: string): JsonObject | undefined {
  return JsonObject.in(text)
}
