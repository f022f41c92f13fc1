import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { replaceFile } from '../tape/index.js'
import { whoAmI, type ShipReport } from './ship-segments.js'
import type { ObjectStore } from './store/object-store.js'

const count = z.int().nonnegative()

/** State of a shipper, in the data folder and in the store: `hosts/<id>.json`. */
const schema = z.object({
  v: z.literal(1),
  host: z.string(),
  user: z.string(),
  /** Time of the last pass. */
  at: z.string(),
  wiretape: z.string(),
  /** Since this shipper's first start, to this store. */
  shipped: count,
  shippedBytes: count,
  sentBytes: count,
  refusals: count,
  failures: count,
  waiting: count,
  waitingBytes: count,
  oldestWaiting: z.string().nullable(),
  trouble: z.string().nullable(),
})

export type HostState = z.infer<typeof schema>

export function decodeHostState(text: string): HostState | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Adds a pass to the state of this shipper and saves it. */
export async function keepHostState(
  dataFolder: string,
  target: string,
  version: string,
  report: ShipReport,
): Promise<HostState> {
  const path = stateFile(dataFolder, target)
  const before = decodeHostState(await readFile(path, 'utf8').catch(() => ''))
  const state: HostState = {
    v: 1,
    ...whoAmI(),
    at: new Date().toISOString(),
    wiretape: version,
    shipped: (before?.shipped ?? 0) + report.shipped,
    shippedBytes: (before?.shippedBytes ?? 0) + report.shippedBytes,
    sentBytes: (before?.sentBytes ?? 0) + report.sentBytes,
    refusals: (before?.refusals ?? 0) + report.refusals,
    failures: (before?.failures ?? 0) + (report.trouble && report.trouble.code !== 'refused' ? 1 : 0),
    waiting: report.waiting,
    waitingBytes: report.waitingBytes,
    oldestWaiting: report.oldestWaiting,
    trouble: report.trouble?.message ?? null,
  }
  await replaceFile(path, once(bytesOfState(state)))
  return state
}

/** Publishes this shipper's state to the store. */
export async function tellHostState(store: ObjectStore, dataFolder: string, state: HostState): Promise<void> {
  const id = digest(`${state.host}\0${state.user}\0${dataFolder}`)
  await store.put(`hosts/${id}.json`, bytesOfState(state))
}

function stateFile(dataFolder: string, target: string): string {
  return join(dataFolder, 'shippers', `${digest(target)}.json`)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

function bytesOfState(state: HostState): Uint8Array {
  return Buffer.from(`${JSON.stringify(state)}\n`)
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
