// @ts-check
/** Certificates and credentials of NATS for one run. */
// x509 needs it at its own import.
// oxlint-disable-next-line no-unassigned-import
import 'reflect-metadata'
import { createHash, randomUUID, webcrypto } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as x509 from '@peculiar/x509'
import { nkeys } from '@nats-io/transport-node'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** @param {string} folder */
export async function makeTls(folder) {
  mkdirSync(folder, { recursive: true })
  x509.cryptoProvider.set(/** @type {any} */ (webcrypto))
  const caKeys = await keyPair()
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    serialNumber: '01',
    name: 'CN=test authority',
    keys: caKeys,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  })
  const server = await leaf('CN=localhost')
  const client = await leaf('CN=client')
  return {
    ca: put('ca.pem', ca.toString('pem')),
    cert: put('server.pem', server.cert),
    key: put('server.key', server.key),
    clientCert: put('client.pem', client.cert),
    clientKey: put('client.key', client.key),
  }

  /** @param {string} subject */
  async function leaf(subject) {
    const keys = await keyPair()
    const cert = await x509.X509CertificateGenerator.create({
      ...validity(),
      serialNumber: randomUUID().replaceAll('-', ''),
      subject,
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }])],
    })
    const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey))
    const body = key.toString('base64').replaceAll(/.{64}/g, '$&\n')
    return {
      cert: cert.toString('pem'),
      key: `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`,
    }
  }

  /**
   * @param {string} name
   * @param {string} text
   */
  function put(name, text) {
    const path = join(folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
}

function keyPair() {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

function validity() {
  const dayMs = 86_400_000
  return { notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + dayMs) }
}

/** @param {string} folder */
export async function makeCredentials(folder) {
  mkdirSync(folder, { recursive: true })
  const user = nkeys.createUser()
  const seed = text(user.getSeed())
  const nkeyFile = join(folder, 'user.nk')
  writeFileSync(nkeyFile, `${seed}\n`, { mode: 0o600 })

  const operator = nkeys.createOperator()
  const account = nkeys.createAccount()
  const member = nkeys.createUser()
  const operatorJwt = jwt(operator, operator, 'operator', {})
  const limits = {
    subs: -1,
    data: -1,
    payload: -1,
    imports: -1,
    exports: -1,
    wildcards: true,
    conn: -1,
    leaf: -1,
    mem_storage: -1,
    disk_storage: -1,
    streams: -1,
    consumer: -1,
  }
  const accountJwt = jwt(operator, account, 'account', { limits, default_permissions: { pub: {}, sub: {} } })
  // JetStream needs an account for the server itself.
  const system = nkeys.createAccount()
  const systemJwt = jwt(operator, system, 'account', {
    limits: { ...limits, mem_storage: 0, disk_storage: 0 },
    default_permissions: { pub: {}, sub: {} },
  })
  const userJwt = jwt(account, member, 'user', { pub: {}, sub: {}, subs: -1, data: -1, payload: -1 })
  const memberSeed = text(member.getSeed())
  const credsFile = join(folder, 'user.creds')
  writeFileSync(
    credsFile,
    `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n\n` +
      `-----BEGIN USER NKEY SEED-----\n${memberSeed}\n------END USER NKEY SEED------\n`,
    { mode: 0o600 },
  )
  const key = account.getPublicKey()
  return {
    secrets: [seed, memberSeed, userJwt],
    nkey: {
      file: nkeyFile,
      config: `authorization { users = [ { nkey: ${user.getPublicKey()} } ] }\n`,
    },
    jwt: {
      file: credsFile,
      config:
        `operator: ${operatorJwt}\nresolver: MEMORY\nsystem_account: ${system.getPublicKey()}\n` +
        `resolver_preload: { ${key}: ${accountJwt}, ${system.getPublicKey()}: ${systemJwt} }\n`,
    },
  }
}

/**
 * @param {import('@nats-io/transport-node').nkeys.KeyPair} issuer
 * @param {import('@nats-io/transport-node').nkeys.KeyPair} subject
 * @param {string} type
 * @param {object} claims
 */
function jwt(issuer, subject, type, claims) {
  const payload = {
    jti: '',
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    name: type,
    sub: subject.getPublicKey(),
    nats: { ...claims, type, version: 2 },
  }
  payload.jti = createHash('sha256').update(JSON.stringify(payload)).digest('base64url')
  const head = part({ typ: 'JWT', alg: 'ed25519-nkey' })
  const signed = `${head}.${part(payload)}`
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`
}

/** @param {object} json */
function part(json) {
  return Buffer.from(JSON.stringify(json)).toString('base64url')
}

/** @param {Uint8Array} bytes */
function text(bytes) {
  return Buffer.from(bytes).toString()
}
