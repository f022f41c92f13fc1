import * as z from 'zod'
import { WiretapeError } from '../../model/index.js'
import { bytesOf, type ObjectStore } from '../../ship/index.js'
import { attemptsKey } from './keys.js'

const schema = z.looseObject({
  v: z.literal(1),
  attempts: z.int().nonnegative(),
  reason: z.string().optional(),
  /** Time of the last attempt. */
  at: z.string().optional(),
})

/** Attempts to collect a segment that a collector began and that did not succeed. */
export interface FailedAttempts {
  readonly count: number
  /** Why the last one failed; undefined if its collector ended without a report. */
  readonly reason?: string
  /** When the last one began, or failed. */
  readonly at?: string
}

/** Whether another collector may still be at it. A bus says so itself: it delivers a segment again only without a progress signal. */
export function mayBeInProgress({ count, reason, at }: FailedAttempts, withinMs: number): boolean {
  if (count === 0 || reason !== undefined || at === undefined) return false
  return Math.abs(Date.now() - Date.parse(at)) < withinMs
}

const none: FailedAttempts = { count: 0 }

/**
 * Counts attempts in the store, before each begins, since a segment may end the process that reads it. Attempts that a store or bus
 * made fail are taken back: they say nothing about the segment.
 */
export class Attempts {
  readonly #store: ObjectStore
  /** Attempts to take back, while the store is unavailable: the counts before them. */
  readonly #takeBack = new Map<string, FailedAttempts>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  async of(hash: string): Promise<FailedAttempts> {
    const before = this.#takeBack.get(hash)
    if (before) return before
    const key = attemptsKey(hash)
    if (!(await this.#store.head(key))) return none
    try {
      const { attempts, reason, at } = schema.parse(
        JSON.parse(Buffer.from(await bytesOf(this.#store.get(key))).toString('utf8')),
      )
      return { count: attempts, ...(reason !== undefined && { reason }), ...(at !== undefined && { at }) }
    } catch (error) {
      // Deleted by another collector, or damaged.
      if (!(error instanceof WiretapeError) || error.code === 'unreadable') return none
      throw error
    }
  }

  async set(hash: string, { count, reason, at = new Date().toISOString() }: FailedAttempts): Promise<void> {
    const text = JSON.stringify({ v: 1, attempts: count, reason, at })
    await this.#store.put(attemptsKey(hash), Buffer.from(`${text}\n`))
    this.#takeBack.delete(hash)
  }

  /** Never rejects: the segment is in the index, or a dead letter. */
  async clear(hash: string): Promise<void> {
    await this.#reset(hash).catch(() => undefined)
    this.#takeBack.delete(hash)
  }

  /** Restores the count before an attempt, later if the store is unavailable. Never rejects. */
  async takeBack(hash: string, before: FailedAttempts): Promise<void> {
    this.#takeBack.set(hash, before)
    await (before.count === 0 ? this.#reset(hash) : this.set(hash, before)).catch(() => undefined)
  }

  /** Without the permission to delete, the count is 0. */
  async #reset(hash: string): Promise<void> {
    await this.#store.delete(attemptsKey(hash)).catch(() => this.set(hash, none))
    this.#takeBack.delete(hash)
  }

  /** Restores the counts that the store did not accept before. */
  async takeBackRest(): Promise<void> {
    for (const [hash, before] of this.#takeBack) await this.takeBack(hash, before)
  }
}
