import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { quotaFull, type Disk } from './disk.js'
import { readShippedMark, shippedMarkPath } from './shipped.js'

/** How much a folder of recordings may hold. */
export interface Quota {
  readonly folder: string
  readonly bytes: number
  /** Segments that this store has may be deleted; without one, none. */
  readonly target?: string
}

/** Others write to the folder too: it is looked at again after this time, ... */
const lookMs = 10_000
/** ... and while it is full. */
const fullLookMs = 1_000
const tellAgainMs = 60_000
/** A full folder still takes the lines that say so. */
const lastWordsBytes = 64 * 1024
const longestLastWords = 1024

export interface QuotaDisk extends Disk {
  /** Whether a write was refused since this was asked before. Not said again within a minute. */
  takeRefusal(): boolean
}

/**
 * A disk that refuses as a full one does when a folder holds as much as it may. Before it refuses it deletes segments that
 * are in the store.
 */
export function createQuotaDisk(disk: Disk, quota: Quota): QuotaDisk {
  /** Room held in reserve, by descriptor: it has no name in the folder. */
  const reserves = new Map<number, number>()
  let sizeBytes = 0
  let lookedMs = -Infinity
  let lastWordsLeft = lastWordsBytes
  let isFull = false
  let refused = false
  let toldMs = -Infinity

  function look(): void {
    sizeBytes = folderSize(quota.folder) + [...reserves.values()].reduce((sum, size) => sum + size, 0)
    lookedMs = performance.now()
  }

  function hasRoom(bytes: number): boolean {
    const agoMs = performance.now() - lookedMs
    if (agoMs > lookMs) look()
    if (sizeBytes + bytes <= quota.bytes) return true
    if (isFull && agoMs < fullLookMs) return false
    look()
    if (sizeBytes + bytes > quota.bytes) sizeBytes -= deleteShipped(quota, sizeBytes + bytes - quota.bytes)
    return sizeBytes + bytes <= quota.bytes
  }

  function writeSync(fd: number, bytes: Uint8Array, from?: number, count?: number, at?: number): number {
    const offset = from ?? 0
    const length = count ?? bytes.length - offset
    if (!hasRoom(length)) {
      if (!isLastWords(bytes, offset, length) || length > lastWordsLeft) {
        isFull = true
        refused = true
        throw quotaFull()
      }
      lastWordsLeft -= length
    } else if (!reserves.has(fd)) {
      isFull = false
      lastWordsLeft = lastWordsBytes
    }
    const written = disk.writeSync(fd, bytes, offset, length, at)
    sizeBytes += written
    if (reserves.has(fd)) reserves.set(fd, reserves.get(fd)! + written)
    return written
  }

  return {
    ...disk,
    openNameless(folder) {
      const fd = disk.openNameless?.(folder)
      if (fd !== undefined) reserves.set(fd, 0)
      return fd
    },
    openSync(path, flags, mode) {
      const fd = disk.openSync(path, flags, mode)
      if (String(path).endsWith('.reserve')) reserves.set(fd, 0)
      return fd
    },
    writeSync: writeSync as Disk['writeSync'],
    closeSync(fd) {
      sizeBytes -= reserves.get(fd) ?? 0
      reserves.delete(fd)
      disk.closeSync(fd)
    },
    takeRefusal() {
      const isNews = refused && performance.now() - toldMs > tellAgainMs
      if (isNews) toldMs = performance.now()
      refused = false
      return isNews
    },
  }
}

/** A line that tells of a gap, ends the tape or begins one. */
function isLastWords(bytes: Uint8Array, offset: number, length: number): boolean {
  if (length > longestLastWords) return false
  return /"type":"(?:gap|end|meta)"/.test(
    Buffer.from(bytes.subarray(offset, offset + length)).toString('utf8'),
  )
}

function tapesIn(folder: string): { readonly path: string; readonly size: number }[] {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names
    .filter((name) => name.endsWith('.jsonl'))
    .toSorted()
    .flatMap((name) => {
      const path = join(folder, name)
      const size = statSync(path, { throwIfNoEntry: false })?.size
      return size === undefined ? [] : [{ path, size }]
    })
}

function folderSize(folder: string): number {
  return tapesIn(folder).reduce((sum, { size }) => sum + size, 0)
}

/** Deletes segments that the store has, oldest first, until `wantedBytes` are free. Returns how many are. */
export function deleteShipped({ folder, target }: Quota, wantedBytes: number): number {
  if (target === undefined) return 0
  let freed = 0
  for (const { path, size } of tapesIn(folder)) {
    if (freed >= wantedBytes) break
    const mark = readShippedMark(path)
    if (mark?.bytes !== size || !mark.targets.includes(target)) continue
    try {
      rmSync(path, { force: true })
      rmSync(shippedMarkPath(path), { force: true })
      freed += size
    } catch {
      // Somebody holds it open on Windows: the next one may go.
    }
  }
  return freed
}
