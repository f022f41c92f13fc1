/** A NATS server with JetStream, and the store in it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll } from 'vitest'
import { openStore, type JetStreamStore } from '../../src/ship/index.js'
import { natsOptions } from '../fixtures/nats-options.mjs'

export const hasServer = spawnSync('nats-server', ['--version']).status === 0

/** Returns the store of a server that runs during the tests of a `describe`. */
export function useJetStream(): () => JetStreamStore {
  let folder: string
  let server: ChildProcess
  let store: JetStreamStore
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wiretape-jetstream-'))
    server = spawn('nats-server', natsOptions(folder, folder), { stdio: 'ignore' })
    store = (await openStore(
      await addressOf(join(folder, `nats-server_${server.pid}.ports`)),
      {},
    )) as typeof store
  })
  afterAll(async () => {
    await store.close()
    server.kill('SIGKILL')
    await once(server, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  return () => store
}

/** The server writes its ports to a file once it listens. */
async function addressOf(path: string): Promise<string> {
  for (let tries = 0; ; tries += 1) {
    try {
      const { nats } = JSON.parse(readFileSync(path, 'utf8')) as { nats: string[] }
      return nats[0]!
    } catch (error) {
      if (tries > 600) throw error
      await setTimeout(50)
    }
  }
}
