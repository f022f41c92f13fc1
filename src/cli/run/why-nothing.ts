import { execFile } from 'node:child_process'
import { basename } from 'node:path'
import { exemptHosts, type TrafficReport } from '../../capture/index.js'

/** Places listed. */
const mostNamed = 4
const versionMs = 5_000
/** Programs that run on the first Node found. */
const onNode = /^(npx|npm|pnpm|pnpx|yarn|tsx|ts-node|nodejs)$/

/** Why no MCP traffic passed a forward proxy, if known. */
export async function whyNothing(
  { requests, tunnels }: TrafficReport,
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const pinned = placesOf(tunnels, 'pinned')
  if (pinned.length > 0)
    return `the client does not trust the certificate of wiretape for ${listed(pinned)}, which was tunnelled`
  const skipped = placesOf(tunnels, 'skipped')
  if (requests.size === 0 && skipped.length > 0)
    return `all requests went to ${listed(skipped)}, which --only or --skip excludes`
  const other = [...placesOf(tunnels, 'not-http'), ...placesOf(tunnels, 'http2')]
  if (requests.size === 0 && other.length > 0) return `the traffic to ${listed(other)} was not HTTP/1.1`
  if (requests.size > 0) {
    const count = [...requests.values()].reduce((sum, n) => sum + n, 0)
    const exempt = exemptHosts(env)
    const by = exempt.length === 0 ? '' : `; NO_PROXY sends requests directly to ${listed(exempt)}`
    const all = count === 1 ? 'the request' : `all ${count} requests`
    return `${all} to ${listed([...requests.keys()])} had no MCP message${by}`
  }
  return `no request used the proxy; ${(await reasons(command, env)).join('; ')}`
}

async function reasons(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const found: string[] = []
  const node = nodeOf(command)
  const version = node === undefined ? undefined : await versionOf(node)
  if (version === undefined) found.push('Node before 22.21 ignores proxy variables in fetch')
  else if (!knowsProxies(version))
    found.push(`the client's Node ${version} ignores proxy variables in fetch (22.21 and 24.5 use them)`)
  const exempt = exemptHosts(env)
  if (exempt.length > 0) found.push(`NO_PROXY exempts ${listed(exempt)}`)
  found.push('some programs connect to localhost directly, or have their own proxy settings')
  return found
}

/** The Node that certainly runs the client. */
function nodeOf([program = '']: readonly string[]): string | undefined {
  const name = basename(program).replace(/\.(exe|cmd)$/i, '')
  if (name === 'node') return program
  return onNode.test(name) ? 'node' : undefined
}

function versionOf(node: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(node, ['--version'], { timeout: versionMs }, (error, stdout) => {
      resolve(error ? undefined : /^v(\d+\.\d+\.\d+)/.exec(stdout)?.[1])
    })
  })
}

function knowsProxies(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21)
}

function placesOf(tunnels: TrafficReport['tunnels'], why: string): string[] {
  return [...tunnels].filter(([, reason]) => reason === why).map(([place]) => place)
}

function listed(places: readonly string[]): string {
  const named = places.slice(0, mostNamed).join(', ')
  return places.length > mostNamed ? `${named} and ${places.length - mostNamed} more` : named
}
