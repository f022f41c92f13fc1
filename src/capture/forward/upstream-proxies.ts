import { BlockList, isIP } from 'node:net'
import type { UpstreamProxy } from '../../transports/index.js'
import type { Environment } from './client-environment.js'

/** The proxies named in the environment, interpreted as other programs do. */
export interface UpstreamProxies {
  for(target: {
    readonly url: URL
    readonly hostname: string
    readonly port: number
  }): UpstreamProxy | undefined
  /** Unusable settings in the environment, one sentence each, without secrets. */
  readonly troubles: readonly string[]
}

const usualPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

export function upstreamProxiesOf(env: Environment): UpstreamProxies {
  const troubles: string[] = []
  const found = { 'http:': readProxy('http', env, troubles), 'https:': readProxy('https', env, troubles) }
  const isExempt = exemptionsOf(env['no_proxy'] || env['NO_PROXY'] || '')
  return {
    for: ({ url, hostname, port }) =>
      isExempt(hostname.toLowerCase(), port) ? undefined : found[url.protocol as 'http:' | 'https:'],
    troubles: [...new Set(troubles)],
  }
}

function readProxy(scheme: string, env: Environment, troubles: string[]): UpstreamProxy | undefined {
  // Lower case has precedence, as in curl.
  const names = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`, 'all_proxy', 'ALL_PROXY']
  const name = names.find((one) => env[one])
  if (name === undefined) return undefined
  const text = env[name]!
  const address = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  const usualPort = url && usualPorts[url.protocol]
  if (!url || usualPort === undefined || url.hostname === '') {
    const what =
      url && usualPort === undefined
        ? `a ${url.protocol}// proxy, which is not supported`
        : 'not the URL of a proxy'
    troubles.push(`${name} is ${what}: it is ignored, and servers are connected to directly`)
    return undefined
  }
  const login = `${decoded(url.username)}:${decoded(url.password)}`
  return {
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? usualPort : Number(url.port),
    secure: url.protocol === 'https:',
    ...(login !== ':' && { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `NO_PROXY`: names with subdomains, addresses, networks (`10.0.0.0/8`), each with or without a port; `*` for all. */
function exemptionsOf(list: string): (hostname: string, port: number) => boolean {
  const networks = new BlockList()
  const names: { readonly name: string; readonly port?: number }[] = []
  for (const entry of list.toLowerCase().split(/[\s,]+/)) {
    if (entry === '') continue
    if (entry === '*') return () => true
    const [, address = '', bits] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? []
    const family = isIP(address)
    if (family > 0 && Number(bits) <= (family === 4 ? 32 : 128)) {
      networks.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6')
      continue
    }
    const [, host = entry, port] = (isIP(entry) === 6 ? null : /^(.+?)(?::(\d{1,5}))?$/.exec(entry)) ?? []
    const name = host.replace(/^\[(.*)\]$/, '$1').replace(/^\*?\./, '')
    names.push({ name, ...(port !== undefined && { port: Number(port) }) })
  }
  return (hostname, port) => {
    const family = isIP(hostname)
    if (family > 0 && networks.check(hostname, family === 4 ? 'ipv4' : 'ipv6')) return true
    return names.some(
      (one) =>
        (one.port === undefined || one.port === port) &&
        (hostname === one.name || (family === 0 && hostname.endsWith(`.${one.name}`))),
    )
  }
}
