// @ts-check
import { setTimeout } from 'node:timers/promises'

/**
 * Polls with one deadline for the whole test.
 *
 * @param {number} deadlineMs from now
 */
export function startClock(deadlineMs) {
  const startMs = performance.now()
  const isLate = () => performance.now() - startMs > deadlineMs
  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  const eventually = async (work) => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (isLate()) throw error
        await setTimeout(200)
      }
    }
  }
  /** @param {() => boolean | Promise<boolean>} is @param {string | (() => string)} what */
  const until = async (is, what) => {
    while (!(await is())) {
      if (isLate()) throw new Error(`too slow: ${typeof what === 'string' ? what : what()}`)
      await setTimeout(100)
    }
  }
  const say = (/** @type {string} */ line) => {
    console.log(`${((performance.now() - startMs) / 1000).toFixed(0).padStart(4)} s  ${line}`)
  }
  return { eventually, until, say }
}
