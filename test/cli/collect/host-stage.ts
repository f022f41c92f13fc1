/** States of hosts in a store. */
import type { ObjectStore } from '../../../src/ship/index.js'

export async function hostsIn(store: ObjectStore, count: number): Promise<string[]> {
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
