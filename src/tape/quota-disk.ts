import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { quotaFull, type Disk } from './disk.js'
import { isShipped, shippedMarkPath } from './shipped.js'

/** Size limit for a folder of recordings. */
export interface Quota {
  readonly folder: string
  readonly bytes: number
  /** Segments in this store may be deleted; without a store, none. */
  readonly target?: string
}

/** Other processes write to the folder too, so its size is read again after this time, ... */
const lookMs = 10_000
/** ... and while it is full. */
const fullLookMs = 1_000
/** A full folder still accepts the lines that report this. */
const lastWordsBytes = 64 * 1024
const longestLastWords = 1024

/**
 * A disk that fails like a full one when a folder reaches its limit. Before it fails, it deletes segments that are in
 * the store.
 */
export function createQuotaDisk(disk: Disk, quota: Quota): Disk {
  /** Reserved room, by descriptor: the reserve has no name in the folder. */
  const reserves = new Map<number, number>()
  let sizeBytes = 0
  let lookedMs = -Infinity
  let lastWordsLeft = lastWordsBytes
  let isFull = false

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
  }
}

/** A `gap`, `end` or `meta` line. */
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

/** Deletes segments in the store, oldest first, until `wantedBytes` are free. Returns the bytes freed. */
export function deleteShipped({ folder, target }: Quota, wantedBytes: number): number {
  if (target === undefined) return 0
  let freed = 0
  for (const { path, size } of tapesIn(folder)) {
    if (freed >= wantedBytes) break
    if (!isShipped(path, target, size)) continue
    try {
      rmSync(path, { force: true })
      rmSync(shippedMarkPath(path), { force: true })
      freed += size
    } catch {
      // Windows: another process has the file open. The next one may be deletable.
    }
  }
  return freed
}
