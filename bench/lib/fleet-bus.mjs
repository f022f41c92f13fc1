// @ts-check
/** A JetStream server with segments on it, and a bare consumer of these segments. */
import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout } from 'node:timers/promises'
import { segmentKey, shipSegments } from '../../dist/ship/index.js'
import { makeLargeTape } from './large-tape.mjs'

export const messagesInSegment = 5_000

/** @param {string} folder @param {import('../../dist/ship/index.js').ObjectStore} bus @param {string} address */
export async function shipOne(folder, bus, address) {
  const dataFolder = join(folder, 'recorder')
  const recordings = join(dataFolder, 'recordings')
  mkdirSync(recordings, { recursive: true })
  makeLargeTape(join(recordings, `2026-08-01T10-00-00-000Z-${randomUUID()}.jsonl`), messagesInSegment)
  const { waiting } = await shipSegments({
    recordings,
    dataFolder,
    captures: async () => [],
    store: bus,
    target: address,
    encoding: 'gzip',
    version: '0.1.0',
  })
  if (waiting > 0) throw new Error('a segment was not shipped')
  rmSync(dataFolder, { recursive: true })
}

/** @param {import('../../dist/ship/index.js').ObjectStore} bus @param {string} folder */
export async function bareConsumer(bus, folder) {
  mkdirSync(folder)
  const { jetstream } = /** @type {import('../../dist/ship/index.js').JetStreamStore} */ (bus)
  const consumer = await jetstream.consumers.get('WIRETAPE')
  const start = performance.now()
  let segments = 0
  for (;;) {
    const message = await consumer.next({ expires: 1_000 })
    if (!message) break
    const manifest = JSON.parse(Buffer.from(message.data).toString())
    const path = join(folder, manifest.hash)
    await pipeline(bus.get(segmentKey(manifest)), createWriteStream(path))
    createHash('sha256').update(readFileSync(path)).digest('hex')
    segments += 1
    if (message.info.pending === 0) break
  }
  return { segments, seconds: (performance.now() - start) / 1_000 }
}

export async function freePort() {
  const server = createServer()
  await new Promise((done) => server.listen(0, '127.0.0.1', () => done(undefined)))
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}

/** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
export async function eventually(work) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt > 100) throw error
      await setTimeout(100)
    }
  }
}
