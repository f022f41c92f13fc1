import { expect, it } from 'vitest'
import { HostStates } from '../../../src/cli/collect/host-states.js'
import type { ObjectStore } from '../../../src/ship/index.js'
import { folderStore } from './collected.js'
import { keysOf } from './indexed-rows.js'

async function hostsIn(store: ObjectStore, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, i) => `hosts/${String(i).padStart(4, '0')}.json`)
  for (const key of keys) await store.put(key, Buffer.from(JSON.stringify(state)))
  return keys
}

const state = {
  v: 1,
  host: 'a',
  user: 'b',
  at: '2026-08-01T10:00:00.000Z',
  wiretape: '0',
  shipped: 1,
  shippedBytes: 1,
  sentBytes: 1,
  refusals: 0,
  failures: 0,
  waiting: 0,
  waitingBytes: 0,
  oldestWaiting: null,
  trouble: null,
}

it('continues with the next hosts where a round ran out of time', async () => {
  const [from, to] = [await folderStore(), await folderStore()]
  const keys = await hostsIn(from, 60)
  /** Each round has time for 20 hosts. */
  let left = 0
  const slow: ObjectStore = {
    ...from,
    async *get(key, range) {
      if ((left -= 1) < 0) await new Promise(() => undefined)
      yield* from.get(key, range)
    },
  }
  const hosts = new HostStates(slow, to, { roundMs: 300 })
  for (let round = 0; round < 20 && (await keysOf(to, 'hosts/')).length < keys.length; round += 1) {
    left = 20
    await hosts.copy()
  }
  expect(await keysOf(to, 'hosts/')).toEqual(keys)
})
