import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { WiretapeError } from '../../model/index.js'
import { asSocketHost, isLoopback } from './admission.js'

/**
 * The address of `host`. Throws when other machines could reach it and the user did not allow that.
 *
 * @param allowRemote `never` where it cannot be allowed
 */
export async function findListenAddress(host: string, allowRemote: boolean | 'never'): Promise<string> {
  const [address] = await addressesOf(host)
  if (address === undefined)
    throw new WiretapeError('usage', `Cannot listen on ${host}: the host name was not found.`)
  if (allowRemote !== true && !isLoopback(address)) {
    throw new WiretapeError('usage', `Cannot listen on ${host}: other machines could use the server.`, {
      hint: allowRemote === 'never' ? 'Listen on 127.0.0.1.' : 'Listen on 127.0.0.1, or add --allow-remote.',
    })
  }
  return address
}

/** Throws when an upstream URL cannot be used. Its text may contain a password, and is never shown. */
export function checkUpstream(upstream: URL): void {
  const wrong = (why: string): WiretapeError =>
    new WiretapeError('usage', `Cannot use the URL of the server: ${why}.`)
  if (upstream.username !== '' || upstream.password !== '') {
    throw wrong('it has a user name or a password, which clients must send in a header instead')
  }
  if (!/^https?:$/.test(upstream.protocol)) throw wrong(`${upstream.protocol} is not http: or https:`)
}

/** Throws when requests to `upstream` would come back to our listening address. */
export async function refuseOurselves(upstream: URL, address: string, port: number): Promise<void> {
  const theirs = Number(upstream.port || (upstream.protocol === 'https:' ? 443 : 80))
  if (theirs !== port) return
  const targets = await addressesOf(upstream.hostname)
  const isAny = address === '0.0.0.0' || address === '::'
  const own = isAny ? Object.values(networkInterfaces()).flatMap((list) => list ?? []) : []
  const hit = targets.some(
    (target) =>
      target === address ||
      (isAny && (target === '0.0.0.0' || target === '::' || isLoopback(target))) ||
      own.some((one) => one.address === target),
  )
  if (!hit) return
  throw new WiretapeError('usage', `${upstream.origin} is the address on which wiretape would listen.`, {
    hint: 'Listen on a port that the server does not use.',
  })
}

/** Empty when the name is unknown, or cannot be resolved now. */
async function addressesOf(host: string): Promise<string[]> {
  const found = await lookup(asSocketHost(host), { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}
