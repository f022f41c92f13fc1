// @ts-check
/** Resident memory of a running process, from Linux's /proc. */
import { readFileSync } from 'node:fs'

/**
 * @param {number} pid
 * @returns {{ bytes: number, peakBytes: number } | undefined} Current size and the kernel's peak; undefined without
 * /proc
 * or without such a process.
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
 * Reads the memory of a process every 50 ms until stopped.
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
    /** The current size. */
    read() {
      look()
      return { endBytes, peakBytes }
    },
    stop: () => clearInterval(timer),
  }
}
