import { readFile } from 'node:fs/promises'
import type { NatsConnection } from '@nats-io/transport-node'
import { WiretapeError } from '../../model/index.js'
import { readReason } from '../../tape/index.js'

/** Files with credentials, from the environment variables of the `nats` program. */
export interface NatsFiles {
  /** A `.creds` file: JWT and seed. */
  readonly creds?: string
  /** A file with the seed of an nkey. */
  readonly nkey?: string
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export function natsFilesOf(env: Readonly<Record<string, string | undefined>>): NatsFiles {
  const names = { creds: 'NATS_CREDS', nkey: 'NATS_NKEY', ca: 'NATS_CA', cert: 'NATS_CERT', key: 'NATS_KEY' }
  return Object.fromEntries(
    Object.entries(names).flatMap(([member, name]) => (env[name] ? [[member, env[name]]] : [])),
  )
}

/** The official client: three optional packages. */
export interface NatsPackages {
  readonly transport: typeof import('@nats-io/transport-node')
  readonly jetstream: typeof import('@nats-io/jetstream')
  readonly obj: typeof import('@nats-io/obj')
}

/** @throws WiretapeError `usage` when they are not installed */
export async function loadNats(): Promise<NatsPackages> {
  try {
    const [transport, jetstream, obj] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
      import('@nats-io/obj'),
    ])
    return { transport, jetstream, obj }
  } catch (cause) {
    throw new WiretapeError('usage', 'nats:// needs the NATS client, which is not installed', {
      cause,
      hint: 'npm install @nats-io/transport-node @nats-io/jetstream @nats-io/obj beside wiretape (with -g where wiretape was installed with -g)',
    })
  }
}

/**
 * Connects with credentials and TLS from files. The connection reconnects by itself until it is closed.
 *
 * @throws WiretapeError `unreachable`, `refused`, `unreadable`
 */
export async function connectNats(
  { transport }: NatsPackages,
  servers: readonly string[],
  files: NatsFiles,
): Promise<NatsConnection> {
  const { creds, nkey, ca, cert, key } = files
  const authenticators = [
    ...(creds === undefined ? [] : [transport.credsAuthenticator(await secretOf(creds))]),
    ...(nkey === undefined ? [] : [transport.nkeyAuthenticator(seedIn(await secretOf(nkey)))]),
  ]
  const tls = {
    ...(ca !== undefined && { ca: (await secretOf(ca)).toString() }),
    ...(cert !== undefined && { cert: (await secretOf(cert)).toString() }),
    ...(key !== undefined && { key: (await secretOf(key)).toString() }),
  }
  try {
    return await transport.connect({
      servers: [...servers],
      name: 'wiretape',
      timeout: 10_000,
      maxReconnectAttempts: -1,
      // A silent connection, as in a network partition, is closed after 30 s.
      pingInterval: 10_000,
      maxPingOut: 2,
      ...(authenticators.length > 0 && { authenticator: authenticators }),
      ...(Object.keys(tls).length > 0 && { tls }),
    })
  } catch (cause) {
    throw natsFailure(cause, `cannot connect to NATS at ${servers.join(', ')}`)
  }
}

/** Converts a client error to a `WiretapeError`. Its message contains no credentials. */
export function natsFailure(cause: unknown, what: string): WiretapeError {
  if (cause instanceof WiretapeError) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  const refused =
    cause instanceof Error && /^(?:Authorization|UserAuthentication|PermissionViolation)/.test(cause.name)
  return new WiretapeError(refused ? 'refused' : 'unreachable', `${what}: ${why.slice(0, 300)}`, { cause })
}

async function secretOf(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new WiretapeError('unreadable', `cannot read ${path}: ${readReason(cause)}`, { cause })
  }
}

/** The seed may be followed by a line break or surrounded by comments from tools. */
function seedIn(text: Uint8Array): Uint8Array {
  const seed = /^S[A-Z2-7]{20,}$/m.exec(Buffer.from(text).toString('latin1').replaceAll('\r', ''))
  return seed ? Buffer.from(seed[0]) : text
}
