import { matchesHost, parseHostPattern, type HostPattern } from '../../transports/index.js'

export interface Environment {
  readonly [name: string]: string | undefined
}

/** The settings with which a client uses our proxy. */
export interface ProxyWords {
  /** URL of the proxy. */
  readonly proxy: string
  /** PEM file of certificates that Node must trust besides its own roots. */
  readonly extraRoots: string
  /** PEM file of all certificates that other programs must trust; it replaces the system's. */
  readonly allRoots: string
  /** Options for Node. */
  readonly nodeOptions: string
}

/**
 * The variables that make clients use the proxy and trust its certificates.
 *
 * @param env the client's own. Hosts to be recorded are removed from its `NO_PROXY`.
 */
export function clientEnvironment(
  { proxy, extraRoots, allRoots, nodeOptions }: ProxyWords,
  env: Environment,
  only: readonly HostPattern[],
): Record<string, string> {
  const set: Record<string, string> = {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    // Node 22.21 and later, 24: without it `fetch` ignores the proxy.
    NODE_USE_ENV_PROXY: '1',
    NODE_OPTIONS: nodeOptions,
    NODE_EXTRA_CA_CERTS: extraRoots,
    SSL_CERT_FILE: allRoots,
    REQUESTS_CA_BUNDLE: allRoots,
    // Without it curl ignores SSL_CERT_FILE if there is an SSL_CERT_DIR.
    CURL_CA_BUNDLE: allRoots,
  }
  for (const name of ['NO_PROXY', 'no_proxy']) {
    const exempt = env[name]
    if (exempt !== undefined && only.length > 0) set[name] = withoutHosts(exempt, only)
  }
  return set
}

/** Hosts that clients reach without a proxy, according to their environment. */
export function exemptHosts(env: Environment): string[] {
  const names = ['NO_PROXY', 'no_proxy'].flatMap((name) => (env[name] ?? '').split(/[\s,]+/))
  return [...new Set(names.filter((name) => name !== ''))]
}

function withoutHosts(list: string, only: readonly HostPattern[]): string {
  const kept = list.split(',').filter((entry) => {
    const exempt = parseHostPattern(entry.trim())
    if (!exempt) return true
    return !only.some((wanted) => {
      const port = wanted.port ?? exempt.port ?? 0
      return matchesHost(exempt, { hostname: wanted.host, port }) || wanted.host.endsWith(`.${exempt.host}`)
    })
  })
  return kept.join(',')
}
