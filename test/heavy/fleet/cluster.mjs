// @ts-check
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jetstreamManager, AckPolicy, StorageType } from '@nats-io/jetstream'
import { Objm } from '@nats-io/obj'
import { connect, nanos } from '@nats-io/transport-node'

/**
 * The configuration of one node of three.
 *
 * @param {string} folder
 * @param {number} number
 * @param {{ clients: readonly string[], routes: readonly string[] }} addresses of all nodes
 */
export function writeNodeConfig(folder, number, { clients, routes }) {
  const path = join(folder, `node-${number}.conf`)
  writeFileSync(
    path,
    `server_name: n${number}
listen: ${clients[number]}
jetstream { store_dir: "${join(folder, `node-${number}`)}", max_mem: 64M, max_file: 2G }
cluster { name: fleet, listen: ${routes[number]}, routes: [${routes.map((at) => `nats://${at}`).join(', ')}] }
`,
  )
  return path
}

/**
 * Creates the stream and the bucket as an administrator does: on all three nodes.
 *
 * @param {string[]} servers
 * @param {<T>(work: () => Promise<T>) => Promise<T>} eventually
 */
export async function prepareBus(servers, eventually) {
  const connection = await eventually(() => connect({ servers, maxReconnectAttempts: -1, timeout: 5_000 }))
  const manager = await eventually(() => jetstreamManager(connection, { timeout: 10_000 }))
  await eventually(() =>
    manager.streams.add({
      name: 'WIRETAPE',
      subjects: ['wiretape.sealed.>'],
      num_replicas: 3,
      storage: StorageType.File,
      duplicate_window: nanos(24 * 3_600_000),
    }),
  )
  await eventually(() =>
    new Objm(connection).create('wiretape-segments', { replicas: 3, storage: StorageType.File }),
  )
  await eventually(() =>
    manager.consumers.add('WIRETAPE', {
      durable_name: 'wiretape-collector',
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(6_000),
      max_ack_pending: 20_000,
    }),
  )
  return manager
}
