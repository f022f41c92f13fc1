import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { EndRecord } from '../model/index.js'

/** Mark of a segment that is in a store; a file in the data folder, beside the recordings. */
export interface ShippedMark {
  readonly v: 1
  readonly session: string
  readonly segment: number
  /** Of the shipped bytes. */
  readonly hash: string
  readonly bytes: number
  /** Stores that have the segment. */
  readonly targets: readonly string[]
}

/** Path of a segment's mark. @param path of the segment, in the folder of recordings */
export function shippedMarkPath(path: string): string {
  return join(dirname(dirname(path)), 'shipped', `${basename(path)}.json`)
}

/** Undefined when the segment was never shipped. An unreadable mark counts as none. */
export function readShippedMark(path: string): ShippedMark | undefined {
  try {
    const mark = JSON.parse(readFileSync(shippedMarkPath(path), 'utf8')) as Partial<ShippedMark>
    return mark.v === 1 && typeof mark.hash === 'string' && Array.isArray(mark.targets)
      ? (mark as ShippedMark)
      : undefined
  } catch {
    return undefined
  }
}

/** Longest `end` line of `recover`. */
const longestEnd = 4096

/** File with the name under which the last shipper to an address marks segments. Only for names that are no addresses. */
export function storeNamePath(dataFolder: string, address: string): string {
  const key = createHash('sha256').update(address).digest('hex').slice(0, 32)
  return join(dataFolder, 'shipped', `${key}.store`)
}

/** Undefined before the first shipper to the address. */
export function readStoreName(dataFolder: string, address: string): string | undefined {
  try {
    return readFileSync(storeNamePath(dataFolder, address), 'utf8').trimEnd()
  } catch {
    return undefined
  }
}

/**
 * Whether a store has all of the segment.
 *
 * @param target name of the store, as in marks; the address of an S3 bucket stands for the endpoint of its last shipper, or for all
 *   endpoints if that is unknown
 */
export function isShipped(
  path: string,
  target: string,
  bytes = statSync(path, { throwIfNoEntry: false })?.size,
): boolean {
  const mark = readShippedMark(path)
  if (bytes === undefined || !mark) return false
  const known = readStoreName(dirname(dirname(path)), target)
  const isThere = (name: string): boolean =>
    known === undefined ? name === target || name.startsWith(`${target} at http`) : name === known
  return mark.targets.some(isThere) && isUnchanged(path, mark, bytes)
}

/** Whether nothing was added after the segment was shipped, except the `end` line of `recover`. */
export function isUnchanged(path: string, mark: ShippedMark, bytes: number): boolean {
  if (mark.bytes === bytes) return true
  const endBytes = recoveredEndBytes(path, bytes)
  return endBytes !== undefined && bytes - endBytes <= mark.bytes
}

/** Length of the `end` line of `recover`; undefined without one. */
function recoveredEndBytes(path: string, bytes: number): number | undefined {
  const tail = Buffer.alloc(Math.min(longestEnd, bytes))
  try {
    const file = openSync(path, 'r')
    try {
      readSync(file, tail, 0, tail.length, bytes - tail.length)
    } finally {
      closeSync(file)
    }
    const line = tail.subarray(tail.lastIndexOf(0x0a, -2) + 1)
    const end = JSON.parse(line.toString('utf8')) as Partial<EndRecord>
    return end.type === 'end' && end.wiretape?.recovered === true ? line.length : undefined
  } catch {
    return undefined
  }
}
