import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

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

/** Whether a store has the segment. @param target address of the store, as in marks */
export function isShipped(path: string, target: string): boolean {
  return readShippedMark(path)?.targets.includes(target) === true
}
