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

it('copies the states of all hosts although some never arrive', async () => {
  const [from, to] = [await folderStore(), await folderStore()]
  const keys = await hostsIn(from, 30)
  const broken: ObjectStore = {
    ...from,
    async *get(key, range) {
      if (key.endsWith('3.json')) throw new Error('away')
      yield* from.get(key, range)
    },
  }
  await new HostStates(broken, to).copy()
  expect(await keysOf(to, 'hosts/')).toEqual(keys.filter((key) => !key.endsWith('3.json')))
})
