// @ts-check
/** The memory of a running process, as Linux counts it. */
import { readFileSync } from 'node:fs'

/**
 * @param {number} pid
 * @returns {{ bytes: number, peakBytes: number } | undefined} Now, and the highest so far as the kernel kept it;
 *   undefined where there is no /proc, or no such process.
 */
export function residentSet(pid) {
  let status
  try {
    status = readFileSync(`/proc/${pid}/status`, 'latin1')
  } catch {
    return undefined
  }
  const kilobytes = (/** @type {string} */ name) =>
    Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1])
  const bytes = kilobytes('VmRSS') * 1024
  if (Number.isNaN(bytes)) return undefined
  return { bytes, peakBytes: kilobytes('VmHWM') * 1024 || bytes }
}

/**
 * Looks at a process every 50 ms until told to stop.
 *
 * @param {number} pid
 */
export function watchResidentSet(pid) {
  let endBytes = 0
  let peakBytes = 0
  const look = () => {
    const now = residentSet(pid)
    if (now === undefined) return
    endBytes = now.bytes
    peakBytes = Math.max(peakBytes, now.peakBytes)
  }
  look()
  const timer = setInterval(look, 50)
  return {
    /** As of now. */
    read() {
      look()
      return { endBytes, peakBytes }
    },
    stop: () => clearInterval(timer),
  }
}
