import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import tls from 'node:tls'
import { readIfThere, replace } from './local-ca.js'

type Environment = Readonly<Record<string, string | undefined>>

/** Files in which systems keep all certificates they trust. */
const systemBundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
  '/usr/local/share/certs/ca-root-nss.crt',
]
const bundleName = /^bundle-[0-9a-f]{16}\.pem$/
const monthMs = 30 * 24 * 60 * 60 * 1000

/** The certificates trusted by this machine's programs. */
export interface TrustedRoots {
  /** PEM: for a bundle that replaces the system's, as `SSL_CERT_FILE` does. */
  readonly system: string
  /** PEM: from `NODE_EXTRA_CA_CERTS`, which adds to Node's own. */
  readonly extra: string
}

/** @param env of the client; names files that it trusts */
export function readTrustedRoots(env: Environment): TrustedRoots {
  const named = env['SSL_CERT_FILE'] || env['REQUESTS_CA_BUNDLE'] || env['CURL_CA_BUNDLE']
  const system = [...(named ? [named] : []), ...systemBundles].map(readPem).find((text) => text !== '')
  const extra = env['NODE_EXTRA_CA_CERTS']
  return { system: system ?? tls.rootCertificates.join('\n'), extra: extra ? readPem(extra) : '' }
}

/** Trusts the same roots as this machine's programs: Node's, the system's, and those added by hand. */
export function trustOf({ system, extra }: TrustedRoots): tls.SecureContext {
  return tls.createSecureContext({ ca: [...tls.rootCertificates, system, ...(extra === '' ? [] : [extra])] })
}

/** Writes a bundle beside the authority, named after its content. Returns the path. */
export function writeBundle(folder: string, parts: readonly string[]): string {
  const text = parts
    .filter((part) => part !== '')
    .map((part) => `${part.trimEnd()}\n`)
    .join('')
  const path = join(folder, `bundle-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.pem`)
  if (readIfThere(path) === text) fs.utimesSync(path, new Date(), new Date())
  else replace(path, text, 0o644)
  removeOld(folder)
  return path
}

/** Removes bundles of former environments and authorities. */
function removeOld(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    const path = join(folder, name)
    if (bundleName.test(name) && Date.now() - fs.statSync(path).mtimeMs > monthMs)
      fs.rmSync(path, { force: true })
  }
}

/** Empty when there is no such file; the program configured with it trusts no server, and reports that. */
function readPem(path: string): string {
  try {
    return fs.readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
