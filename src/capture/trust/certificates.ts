import { randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import { nameConstraints, nameConstraintsId } from './name-constraints.js'

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly key: string
  readonly certificate: string
}

const dayMs = 24 * 60 * 60 * 1000
/** Limits the risk of an authority that was trusted by hand and then forgotten. */
export const authorityDays = 90
/** Clients refuse certificates of servers that are valid for longer than 398 days; one run needs far less. */
const leafDays = 30
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

type X509 = typeof import('@peculiar/x509')

let loaded: Promise<X509> | undefined

/** Loaded only when a certificate must be made, which is rare: loading takes a tenth of a second. */
function x509(): Promise<X509> {
  return (loaded ??= (async () => {
    // A dependency of the library (tsyringe) requires this to be loaded before it.
    await import('reflect-metadata')
    const library = await import('@peculiar/x509')
    library.cryptoProvider.set(webcrypto)
    return library
  })())
}

/**
 * A self-signed certificate authority.
 *
 * @param hosts the only hosts it may vouch for, with their subdomains; `[]` for any
 */
export async function makeAuthority(now: Date, hosts: readonly string[] = []): Promise<KeyPair> {
  const x = await x509()
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await x.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=wiretape local CA ${now.toISOString().slice(0, 10)}`,
    ...validity(now, authorityDays),
    signingAlgorithm: algorithm,
    keys: keys,
    extensions: [
      new x.BasicConstraintsExtension(true, 0, true),
      new x.KeyUsagesExtension(x.KeyUsageFlags.keyCertSign | x.KeyUsageFlags.cRLSign, true),
      await x.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...(hosts.length > 0 ? [new x.Extension(nameConstraintsId, true, nameConstraints(hosts))] : []),
    ],
  })
  return { key: await privatePem(keys.privateKey, x), certificate: `${certificate.toString('pem')}\n` }
}

/** Creates server certificates. */
export interface LeafCertificates {
  /** The certificate for a host name or an address; created once per run. */
  of(name: string): Promise<KeyPair>
}

/** Number of names that are remembered. */
const mostLeaves = 1_000

/** @param authority signs them; their key is created for this run, and kept in memory only */
export function createLeafCertificates(authority: KeyPair): LeafCertificates {
  const leaves = new Map<string, Promise<KeyPair>>()
  const prepared = prepare(authority)
  // Possibly never awaited.
  prepared.catch(() => undefined)
  return {
    of(name) {
      const known = leaves.get(name)
      if (known) return known
      const leaf = prepared.then((signer) => makeLeaf(name, signer))
      leaves.set(name, leaf)
      leaf.catch(() => leaves.delete(name))
      if (leaves.size > mostLeaves) leaves.delete(leaves.keys().next().value!)
      return leaf
    },
  }
}

interface Signer {
  readonly x: X509
  readonly issuer: InstanceType<X509['X509Certificate']>
  readonly signingKey: webcrypto.CryptoKey
  readonly publicKey: webcrypto.CryptoKey
  readonly key: string
}

async function prepare({ key, certificate }: KeyPair): Promise<Signer> {
  const x = await x509()
  const pkcs8 = x.PemConverter.decodeFirst(key)
  const signingKey = await webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign'])
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  return {
    x,
    issuer: new x.X509Certificate(certificate),
    signingKey: signingKey,
    publicKey: keys.publicKey,
    key: await privatePem(keys.privateKey, x),
  }
}

async function makeLeaf(name: string, { x, issuer, signingKey, publicKey, key }: Signer): Promise<KeyPair> {
  const certificate = await x.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    // The name is in the extension, which alone counts; for this field it may be too long.
    subject: 'CN=wiretape',
    issuer: issuer.subject,
    ...validity(new Date(), leafDays, issuer.notAfter),
    signingAlgorithm: algorithm,
    publicKey,
    signingKey,
    extensions: [
      new x.BasicConstraintsExtension(false, undefined, true),
      new x.KeyUsagesExtension(x.KeyUsageFlags.digitalSignature, true),
      new x.ExtendedKeyUsageExtension([x.ExtendedKeyUsage.serverAuth]),
      new x.SubjectAlternativeNameExtension([{ type: isIP(name) === 0 ? 'dns' : 'ip', value: name }]),
      await x.SubjectKeyIdentifierExtension.create(publicKey),
      await x.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return { key, certificate: `${certificate.toString('pem')}\n` }
}

/** Valid from one day ago, since clocks differ. */
function validity(now: Date, days: number, latest?: Date): { notBefore: Date; notAfter: Date } {
  const endMs = now.getTime() + days * dayMs
  return {
    notBefore: new Date(now.getTime() - dayMs),
    notAfter: new Date(latest === undefined ? endMs : Math.min(endMs, latest.getTime())),
  }
}

/** 127 bits, positive. */
function serialNumber(): string {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes.toString('hex')
}

async function privatePem(key: webcrypto.CryptoKey, x: X509): Promise<string> {
  return `${x.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')}\n`
}
