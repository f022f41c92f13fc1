import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { WiretapeError } from '../model/index.js'
import { replaceFile } from '../tape/index.js'
import type { Manifest } from './manifest.js'
import type { ObjectStore } from './store/object-store.js'
import { decodeJson } from './decode-json.js'

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
  /** Of earlier versions without these members: 0. */
  sessions: count.default(0),
  messages: count.default(0),
  gaps: count.default(0),
  lost: count.default(0),
  /** End of the last segment. */
  lastSegment: z.string().nullable().default(null),
  refusals: count,
  failures: count,
  waiting: count,
  waitingBytes: count,
  oldestWaiting: z.string().nullable(),
  trouble: z.string().nullable(),
})

export type HostState = z.infer<typeof schema>

export function decodeHostState(text: string): HostState | undefined {
  return decodeJson(schema, text)
}

/** Where and for which store a shipper keeps its state. */
export interface HostStatePlace {
  readonly dataFolder: string
  readonly target: string
  /** Version of wiretape. */
  readonly version: string
}

/** Adds a shipped segment. At once, so that a killed shipper does not forget it. */
export async function countShipped(
  place: HostStatePlace,
  manifest: Manifest,
  sentBytes: number,
): Promise<void> {
  const before = await readHostState(place)
  const ended = manifest.endedAt ?? manifest.startedAt
  await saveHostState(place, {
    ...before,
    shipped: before.shipped + 1,
    shippedBytes: before.shippedBytes + manifest.bytes,
    sentBytes: before.sentBytes + sentBytes,
    // Later segments continue the session of the first.
    sessions: before.sessions + (manifest.segment === 0 ? 1 : 0),
    messages: before.messages + manifest.messages,
    gaps: before.gaps + manifest.gaps,
    lost: before.lost + manifest.lost,
    lastSegment: before.lastSegment === null || before.lastSegment < ended ? ended : before.lastSegment,
  })
}

/** Adds the failures of a pass, and what waits after it. */
export async function keepHostState(
  place: HostStatePlace,
  { refusals, waiting, waitingBytes, oldestWaiting, trouble }: PassOutcome,
): Promise<HostState> {
  const before = await readHostState(place)
  return saveHostState(place, {
    ...before,
    refusals: before.refusals + refusals,
    failures: before.failures + (trouble && trouble.code !== 'refused' ? 1 : 0),
    waiting,
    waitingBytes,
    oldestWaiting,
    trouble: trouble?.message ?? null,
  })
}

interface PassOutcome {
  readonly refusals: number
  readonly waiting: number
  readonly waitingBytes: number
  readonly oldestWaiting: string | null
  readonly trouble?: WiretapeError
}

const nothingShipped = {
  shipped: 0,
  shippedBytes: 0,
  sentBytes: 0,
  sessions: 0,
  messages: 0,
  gaps: 0,
  lost: 0,
  lastSegment: null,
  refusals: 0,
  failures: 0,
  waiting: 0,
  waitingBytes: 0,
  oldestWaiting: null,
  trouble: null,
} as const

async function readHostState({ dataFolder, target, version }: HostStatePlace): Promise<HostState> {
  const text = await readFile(stateFile(dataFolder, target), 'utf8').catch(() => '')
  const known = decodeHostState(text) ?? nothingShipped
  return { ...known, v: 1, ...whoAmI(), at: new Date().toISOString(), wiretape: version }
}

async function saveHostState({ dataFolder, target }: HostStatePlace, state: HostState): Promise<HostState> {
  await replaceFile(stateFile(dataFolder, target), textOf(state))
  return state
}

/** Host and user names of shipped segments. */
export function whoAmI(): { host: string; user: string } {
  try {
    return { host: os.hostname(), user: os.userInfo().username }
  } catch {
    return { host: os.hostname(), user: `uid ${process.getuid?.() ?? 0}` }
  }
}

/** Publishes this shipper's state to the store. */
export async function tellHostState(store: ObjectStore, dataFolder: string, state: HostState): Promise<void> {
  const id = digest(`${state.host}\0${state.user}\0${dataFolder}`)
  await store.put(`hosts/${id}.json`, Buffer.from(textOf(state)))
}

function stateFile(dataFolder: string, target: string): string {
  const { host, user } = whoAmI()
  // Of this name only: `status --fleet` adds the totals of all names, also those of machines that share the data folder.
  return join(dataFolder, 'shippers', `${digest(`${target}\0${host}\0${user}`)}.json`)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

function textOf(state: HostState): string {
  return `${JSON.stringify(state)}\n`
}
