import { dirname } from 'node:path'
import { isFull, type Disk } from './disk.js'
import { randomBytes } from './random.js'

/** Room for a `gap` and an `end` line on file systems that allocate blocks of up to 64 kB. */
const reserveBytes = 65_536

/**
 * Disk space that is released when the disk is full, so that the tape can still report its losses. It is a
 * file without a name: when the process ends, the space is free again.
 */
export class Reserve {
  readonly #disk: Disk
  readonly #path: string
  #fd: number | undefined

  /** @param beside the reserve uses the file system of this file */
  constructor(beside: string, disk: Disk) {
    this.#disk = disk
    this.#path = `${beside}.reserve`
  }

  /**
   * Returns false when the disk lacks the room. If a reserve is impossible for another reason (the folder was
   * moved, or allows no new files), the tape continues without it.
   */
  take(): boolean {
    if (this.#fd !== undefined) return true
    let fd: number | undefined
    try {
      fd = this.#open()
      // Random bytes: a compressing file system would allocate no room for zeros.
      const filling = randomBytes(reserveBytes)
      let written = 0
      while (written < reserveBytes) {
        const count = this.#disk.writeSync(fd, filling, written)
        if (count === 0) {
          this.#drop(fd)
          return false
        }
        written += count
      }
      this.#fd = fd
      return true
    } catch (error) {
      if (fd !== undefined) this.#drop(fd)
      return !isFull(error)
    }
  }

  #open(): number {
    const nameless = this.#disk.openNameless?.(dirname(this.#path))
    if (nameless !== undefined) return nameless
    const fd = this.#disk.openSync(this.#path, 'wx', 0o600)
    try {
      this.#disk.unlinkSync(this.#path)
      return fd
    } catch (error) {
      this.#drop(fd)
      throw error
    }
  }

  release(): void {
    const fd = this.#fd
    this.#fd = undefined
    if (fd !== undefined) this.#close(fd)
  }

  #drop(fd: number): void {
    this.#close(fd)
    try {
      this.#disk.unlinkSync(this.#path)
    } catch {
      // The file has no name any more, as intended.
    }
  }

  #close(fd: number): void {
    try {
      this.#disk.closeSync(fd)
    } catch {
      // The descriptor is closed in any case, and the file is empty.
    }
  }
}
