import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { addressBytes } from '../../transports/index.js'

/** A name that no host has (RFC 6761). */
const noHost = 'wiretape.invalid'

/** The object identifier of the extension (RFC 5280, 4.2.1.10). */
export const nameConstraintsId = '2.5.29.30'

/**
 * The extension that restricts an authority to these hosts and their subdomains. A kind of name that is not mentioned
 * would be unrestricted, so both kinds are mentioned.
 *
 * @param hosts names and addresses
 * @returns DER
 */
export function nameConstraints(hosts: readonly string[]): Uint8Array<ArrayBuffer> {
  const names = hosts.filter((host) => isIP(host) === 0).map((host) => domainToASCII(host))
  const addresses = hosts.filter((host) => isIP(host) !== 0)
  const permitted = [
    ...(names.length > 0 ? names : [noHost]).map((name) => subtree(0x82, Buffer.from(name, 'latin1'))),
    ...addresses.map((address) => subtree(0x87, networkOf(address))),
  ]
  const anyAddress = [8, 32].map((length) => subtree(0x87, Buffer.alloc(length)))
  const parts = [tagged(0xa0, permitted)]
  if (addresses.length === 0) parts.push(tagged(0xa1, anyAddress))
  return new Uint8Array(tagged(0x30, parts))
}

/** The address and a mask with all bits set. */
function networkOf(address: string): Buffer {
  const bytes = addressBytes(address) ?? []
  const own = isIP(address) === 4 ? bytes.slice(12) : bytes
  return Buffer.from([...own, ...own.map(() => 0xff)])
}

function subtree(tag: number, name: Buffer): Buffer {
  return tagged(0x30, [tagged(tag, [name])])
}

function tagged(tag: number, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
