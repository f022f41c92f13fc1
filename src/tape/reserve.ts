import { isFull, type Disk } from './disk.js'
import { closeQuietly, dropFile, openNamelessFile } from './nameless-file.js'
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
      fd = openNamelessFile(this.#path, this.#disk)
      // Random bytes: a compressing file system would allocate no room for zeros.
      const filling = randomBytes(reserveBytes)
      let written = 0
      while (written < reserveBytes) {
        const count = this.#disk.writeSync(fd, filling, written)
        if (count === 0) {
          dropFile(fd, this.#path, this.#disk)
          return false
        }
        written += count
      }
      this.#fd = fd
      return true
    } catch (error) {
      if (fd !== undefined) dropFile(fd, this.#path, this.#disk)
      return !isFull(error)
    }
  }

  release(): void {
    const fd = this.#fd
    this.#fd = undefined
    if (fd !== undefined) closeQuietly(fd, this.#disk)
  }
}
