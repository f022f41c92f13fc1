import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** A segment that is in a store: it has a mark in the data folder, beside the recordings. */
export interface ShippedMark {
  readonly v: 1
  readonly session: string
  readonly segment: number
  /** Of the bytes that were shipped. */
  readonly hash: string
  readonly bytes: number
  /** Stores that have it. */
  readonly targets: readonly string[]
}

/** Where the mark of a segment stands. @param path of the segment, in the folder of recordings */
export function shippedMarkPath(path: string): string {
  return join(dirname(dirname(path)), 'shipped', `${basename(path)}.json`)
}

/** Undefined when the segment was never shipped. A mark that cannot be understood is none. */
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

/** Whether a store has the segment. @param target as its address is written in marks */
export function isShipped(path: string, target: string): boolean {
  return readShippedMark(path)?.targets.includes(target) === true
}
