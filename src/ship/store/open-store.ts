import { resolve } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { createFolderStore } from './folder-store.js'
import type { ObjectStore } from './object-store.js'
import { natsFilesOf, type NatsFiles } from './nats-connection.js'
import type { S3Place } from './s3-requests.js'

type Env = Readonly<Record<string, string | undefined>>

/** Parsed address of a store. */
export type StoreAddress =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }
  | { readonly kind: 'jetstream'; readonly servers: readonly string[]; readonly bucket: string }

const forms = 'give a folder, s3://BUCKET[/PREFIX] or nats://HOST[:PORT][,HOST…][/BUCKET]'

/** @throws WiretapeError `usage`: also for an address with a password, since command lines are public */
export function parseStoreAddress(address: string): StoreAddress {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(address)?.[1]?.toLowerCase()
  const rest = scheme === undefined ? address : address.slice(scheme.length + 3)
  if (scheme !== undefined && rest.includes('@')) {
    throw new WiretapeError('usage', 'the address of a store must not contain credentials', {
      hint: 'S3 keys come from the environment, NATS credentials from files: see docs/ship.md',
    })
  }
  if (scheme === undefined && address !== '') return { kind: 'folder', path: resolve(address) }
  const [host = '', ...folders] = rest.replace(/\/+$/, '').split('/')
  if (scheme === 's3' && /^[a-z0-9][a-z0-9._-]{1,62}$/.test(host)) {
    return { kind: 's3', bucket: host, prefix: folders.filter((part) => part !== '').join('/') }
  }
  if ((scheme === 'nats' || scheme === 'tls') && folders.length <= 1) {
    const servers = host.split(',')
    const bucket = folders[0] ?? 'wiretape-segments'
    if (servers.every((server) => /^[\w.[\]:-]+$/.test(server)) && /^[\w-]+$/.test(bucket)) {
      return { kind: 'jetstream', servers: servers.map((server) => `${scheme}://${server}`), bucket }
    }
  }
  throw new WiretapeError('usage', `not the address of a store: ${JSON.stringify(address.slice(0, 200))}`, {
    hint: forms,
  })
}

/**
 * Name of a store in marks and in the state of a shipper. That of an S3 bucket has its endpoint, since another endpoint may have a bucket
 * of the same name.
 *
 * @param address an absolute path, or a URL without a slash at its end
 */
export function storeName(address: string, env: Env): string {
  if (parseStoreAddress(address).kind !== 's3') return address
  const endpoint = endpointIn(env)?.replace(/\/+$/, '') ?? 'https://s3.amazonaws.com'
  return `${address} at ${endpoint.replace(/^https?:/i, (scheme) => scheme.toLowerCase())}`
}

function endpointIn(env: Env): string | undefined {
  return env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || undefined
}

/**
 * Opens a store. S3 takes keys, region and endpoint from the variables of the AWS CLI, NATS its files from those
 * of the `nats` program (`NATS_CREDS`, `NATS_NKEY`, `NATS_CA`, `NATS_CERT`, `NATS_KEY`).
 *
 * @param files of NATS, used if the environment names none
 * @throws WiretapeError `usage`, `unreachable`, `refused`, `unreadable`
 */
export async function openStore(address: string, env: Env, files: NatsFiles = {}): Promise<ObjectStore> {
  const parsed = parseStoreAddress(address)
  if (parsed.kind === 'folder') return createFolderStore(parsed.path)
  if (parsed.kind === 's3') {
    const { createS3Store } = await import('./s3-store.js')
    return createS3Store(s3Place(parsed.bucket, env), parsed.prefix)
  }
  const { openJetStreamStore } = await import('./jetstream-store.js')
  return openJetStreamStore(parsed.servers, parsed.bucket, { ...files, ...natsFilesOf(env) })
}

/** @throws WiretapeError `usage` without keys */
function s3Place(bucket: string, env: Env): S3Place {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'] || undefined
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'] || undefined
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new WiretapeError('usage', 's3:// needs keys in the environment', {
      hint: 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN for temporary ones)',
    })
  }
  const endpoint = endpointIn(env)
  if (endpoint !== undefined && !/^https?:\/\/[^@]+$/i.test(endpoint)) {
    throw new WiretapeError('usage', 'AWS_ENDPOINT_URL must be an http or https URL without credentials')
  }
  // Other stores than AWS rarely resolve bucket host names; names with dots match no certificate.
  const pathStyle =
    env['AWS_S3_PATH_STYLE'] === undefined
      ? endpoint !== undefined || bucket.includes('.')
      : env['AWS_S3_PATH_STYLE'] === 'true' || env['AWS_S3_PATH_STYLE'] === '1'
  return {
    bucket,
    region: env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1',
    endpoint,
    pathStyle,
    accessKeyId,
    secretAccessKey,
    sessionToken: env['AWS_SESSION_TOKEN'] || undefined,
  }
}
