import { randomFillSync } from 'node:crypto'
import type { Disk } from './disk.js'

/** Room for a `gap` and an `end` line on file systems that hand out blocks of up to 64 kB. */
const reserveBytes = 65_536

/**
 * Disk space that is given back when the disk is full, so that the tape can still say what it lost. It is a
 * file without a name: when the process dies, the space is free again.
 */
export class Reserve {
  readonly #disk: Disk
  readonly #path: string
  #fd: number | undefined

  /** @param beside the reserve is taken from the file system of this file */
  constructor(beside: string, disk: Disk) {
    this.#disk = disk
    this.#path = `${beside}.reserve`
  }

  get held(): boolean {
    return this.#fd !== undefined
  }

  /** Returns false when the disk has no such room. */
  take(): boolean {
    if (this.held) return true
    let fd: number | undefined
    try {
      fd = this.#disk.openSync(this.#path, 'wx', 0o600)
      this.#disk.unlinkSync(this.#path)
      // Random bytes: a compressing file system would give zeros no room.
      const filling = randomFillSync(new Uint8Array(reserveBytes))
      let written = 0
      while (written < reserveBytes) {
        const count = this.#disk.writeSync(fd, filling, written)
        if (count === 0) throw new Error('no room')
        written += count
      }
      this.#fd = fd
      return true
    } catch {
      if (fd !== undefined) this.#disk.closeSync(fd)
      return false
    }
  }

  release(): void {
    if (this.#fd === undefined) return
    this.#disk.closeSync(this.#fd)
    this.#fd = undefined
  }
}
