import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { bytesOf, decodeHostState, type ObjectStore } from '../../ship/index.js'
import { withoutSilence } from './fetch-segment.js'

/** Time between copies; more if a copy takes long. */
const everyMs = 60_000
const sharesOfTime = 20
/** Most hosts copied. */
const mostHosts = 200_000
/** Hosts read concurrently. */
const lanes = 8
/** Longest time of a round. The next one continues where it stopped. */
const usualRoundMs = 120_000

/**
 * Copies the states of shippers (`hosts/`), so that `status --fleet` shows them from the collectors' store too. A failed copy is
 * ignored, since the next round repeats it. A round that has too little time copies a part of the hosts, and the next round the
 * hosts after them.
 */
export class HostStates {
  readonly #from: ObjectStore
  readonly #to: ObjectStore
  readonly #roundMs: number
  /** Digests of copied states, by key. */
  readonly #copied = new Map<string, string>()
  /** The last host of the round before, in the order of keys. */
  #last = ''

  constructor(from: ObjectStore, to: ObjectStore, { roundMs = usualRoundMs } = {}) {
    this.#from = from
    this.#to = to
    this.#roundMs = roundMs
  }

  /** One round. Never rejects. */
  async copy(): Promise<void> {
    const late = new AbortController()
    const round = this.#round(late.signal)
    // A request of a bus may never end if its node fails.
    const clock = setTimeout(this.#roundMs, undefined, { ref: false, signal: late.signal })
    await Promise.race([round, clock])
      .catch(() => undefined)
      .finally(() => late.abort())
  }

  /** Copies them until aborted. */
  async keepCopying(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startMs = performance.now()
      await this.copy()
      const pauseMs = Math.max(everyMs, (performance.now() - startMs) * sharesOfTime)
      await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async #round(late: AbortSignal): Promise<void> {
    const keys: string[] = []
    for await (const { key } of this.#from.list('hosts/')) if (keys.length < mostHosts) keys.push(key)
    const known = new Set(keys)
    for (const key of this.#copied.keys()) if (!known.has(key)) this.#copied.delete(key)
    keys.sort()
    const at = keys.findIndex((key) => key > this.#last)
    const queue = [...keys.slice(Math.max(0, at)), ...keys.slice(0, Math.max(0, at))].values()
    await Promise.all(
      Array.from({ length: lanes }, async () => {
        for (const key of queue) {
          if (late.aborted) return
          this.#last = key
          await this.#copyOne(key).catch(() => undefined)
        }
      }),
    )
  }

  async #copyOne(key: string): Promise<void> {
    const bytes = await bytesOf(withoutSilence(this.#from.get(key)))
    const digest = createHash('sha256').update(bytes).digest('base64')
    if (this.#copied.get(key) === digest || !decodeHostState(Buffer.from(bytes).toString())) return
    await this.#to.put(key, bytes)
    this.#copied.set(key, digest)
  }
}
