import { setTimeout } from 'node:timers/promises'
import { bytesOf, decodeHostState, type ObjectStore } from '../../ship/index.js'

/** Time between copies; more if a copy takes long. */
const everyMs = 60_000
const sharesOfTime = 20
/** Most hosts copied. */
const mostHosts = 200_000

/** A copy is abandoned after this time: listing a bus may never end if its node fails. */
const longestMs = 120_000

/**
 * Copies the states of shippers (`hosts/`), so that `status --fleet` shows their lag from the collectors' store too.
 * A failed copy is ignored, since the next one replaces it.
 */
export async function copyHostStates(from: ObjectStore, to: ObjectStore): Promise<void> {
  const late = new AbortController()
  await Promise.race([
    copyAll(from, to, late.signal),
    setTimeout(longestMs, undefined, { ref: false, signal: late.signal }),
  ])
    .catch(() => undefined)
    .finally(() => late.abort())
}

async function copyAll(from: ObjectStore, to: ObjectStore, signal: AbortSignal): Promise<void> {
  const keys: string[] = []
  for await (const { key } of from.list('hosts/')) if (keys.length < mostHosts) keys.push(key)
  for (const key of keys) {
    if (signal.aborted) return
    const bytes = await bytesOf(from.get(key))
    if (decodeHostState(Buffer.from(bytes).toString())) await to.put(key, bytes)
  }
}

/** Copies them repeatedly. */
export async function keepCopyingHostStates(
  from: ObjectStore,
  to: ObjectStore,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const startMs = performance.now()
    await copyHostStates(from, to)
    const pauseMs = Math.max(everyMs, (performance.now() - startMs) * sharesOfTime)
    await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}
