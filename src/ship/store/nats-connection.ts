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

const variables = {
  creds: 'NATS_CREDS',
  nkey: 'NATS_NKEY',
  ca: 'NATS_CA',
  cert: 'NATS_CERT',
  key: 'NATS_KEY',
} as const

export function natsFilesOf(env: Readonly<Record<string, string | undefined>>): NatsFiles {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([member, name]) => (env[name] ? [[member, env[name]]] : [])),
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
 * @throws WiretapeError `unreachable`, `refused`, `unreadable`, `usage`
 */
export async function connectNats(
  { transport }: NatsPackages,
  servers: readonly string[],
  files: NatsFiles,
): Promise<NatsConnection> {
  const [creds, nkey, ca, cert, key] = await Promise.all(
    (['creds', 'nkey', 'ca', 'cert', 'key'] as const).map((name) => contentOf(name, files[name])),
  )
  const authenticators = [
    ...(creds ? [transport.credsAuthenticator(creds)] : []),
    ...(nkey ? [transport.nkeyAuthenticator(seedIn(nkey))] : []),
  ]
  const tls = {
    ...(ca && { ca: ca.toString() }),
    ...(cert && { cert: cert.toString() }),
    ...(key && { key: key.toString() }),
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
    const failure = natsFailure(cause, `cannot connect to NATS at ${servers.join(', ')}`)
    // The server closes the connection after the handshake, which the client does not report.
    const isPerhapsCertificate = failure.message.endsWith(': timeout') && files.cert === undefined
    throw isPerhapsCertificate
      ? new WiretapeError(failure.code, failure.message, { cause, hint: certificateHint })
      : failure
  }
}

const certificateHint = 'if the server requires a client certificate, set NATS_CERT and NATS_KEY'

/** Converts a client error to a `WiretapeError`. Its message contains no credentials. */
export function natsFailure(cause: unknown, what: string): WiretapeError {
  if (cause instanceof WiretapeError) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  const refused =
    cause instanceof Error && /^(?:Authorization|UserAuthentication|PermissionViolation)/.test(cause.name)
  return new WiretapeError(refused ? 'refused' : 'unreachable', `${what}: ${why.slice(0, 300)}`, { cause })
}

async function contentOf(name: keyof NatsFiles, path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined) return undefined
  if (secretText.test(path))
    throw new WiretapeError('usage', `${variables[name]} must be the name of a file, not its content`)
  try {
    return await readFile(path)
  } catch (cause) {
    throw new WiretapeError('unreadable', `cannot read ${path}: ${readReason(cause)}`, { cause })
  }
}

/** A seed, a JWT, or a file in PEM: never displayed. */
const secretText = /^\s*(?:S[A-Z2-7]{30,}\s*$|eyJ|-----)|\n/

/** The seed may be followed by a line break or surrounded by comments from tools. */
function seedIn(text: Uint8Array): Uint8Array {
  const seed = /^S[A-Z2-7]{20,}$/m.exec(Buffer.from(text).toString('latin1').replaceAll('\r', ''))
  return seed ? Buffer.from(seed[0]) : text
}
