import crypto from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'

/** Random bytes of the system, without `node:crypto` if possible: loading it takes 6 to 12 ms. */
export function randomBytes(count: number): Buffer {
  try {
    const bytes = Buffer.alloc(count)
    const fd = openSync('/dev/urandom', 'r')
    try {
      if (readSync(fd, bytes) === count) return bytes
    } finally {
      closeSync(fd)
    }
  } catch {
    // Windows has no such file, and a sandbox may hide it.
  }
  return crypto.randomBytes(count)
}

/** A UUID of version 4. */
export function randomUUID(): string {
  const bytes = randomBytes(16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
