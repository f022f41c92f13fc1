import { dirname } from 'node:path'
import type { Disk } from './disk.js'
import { makeFolder } from './make-folder.js'

/** Only the owner can access files of a recording. */
const fileMode = 0o600

/** State after a failed append. */
export interface FailedAppend {
  readonly cause: unknown
  /** Bytes that were written: whole lines from the start of the data. */
  readonly keptBytes: number
}

/**
 * One file of a tape, opened so that an existing file is never overwritten. After any failure the file ends
 * with a whole line: a partial one is cut off before the next append.
 */
export class SegmentFile {
  readonly path: string
  readonly #disk: Disk
  readonly #fd: number
  #size: number
  /** The file may hold a partial line after `#size`, because cutting it off failed. */
  #torn = false
  #closed = false

  /** Creates `path` and its folder. Throws errors of the file system, `EEXIST` when the file exists. */
  static create(path: string, disk: Disk): SegmentFile {
    makeFolder(dirname(path), disk)
    return new SegmentFile(path, disk.openSync(path, 'wx', fileMode), 0, disk)
  }

  /** Takes over an open file that holds `sizeBytes` of whole lines. */
  constructor(path: string, fd: number, sizeBytes: number, disk: Disk) {
    this.path = path
    this.#fd = fd
    this.#size = sizeBytes
    this.#disk = disk
  }

  get fd(): number {
    return this.#fd
  }

  get sizeBytes(): number {
    return this.#size
  }

  /** Writes whole lines. Returns undefined when all of them were written. */
  append(lines: Uint8Array): FailedAppend | undefined {
    let written = 0
    try {
      if (this.#torn) this.#cut(this.#size)
      while (written < lines.length) {
        const count = this.#disk.writeSync(
          this.#fd,
          lines,
          written,
          lines.length - written,
          this.#size + written,
        )
        if (count === 0) throw new Error('the disk accepts no more data')
        written += count
      }
      this.#size += written
      return undefined
    } catch (cause) {
      const keptBytes = written === 0 ? 0 : lines.lastIndexOf(0x0a, written - 1) + 1
      this.#size += keptBytes
      this.#torn = written > keptBytes || this.#torn
      try {
        if (this.#torn) this.#cut(this.#size)
      } catch {
        // The next append tries again.
      }
      return { cause, keptBytes }
    }
  }

  /** True when another process removed or truncated the file: further data would be lost. */
  isRemoved(): boolean {
    try {
      const { nlink, size } = this.#disk.fstatSync(this.#fd)
      return nlink === 0 || size < this.#size
    } catch {
      return false
    }
  }

  sync(): void {
    this.#disk.fsyncSync(this.#fd)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#disk.closeSync(this.#fd)
  }

  #cut(size: number): void {
    this.#disk.ftruncateSync(this.#fd, size)
    this.#torn = false
  }
}
