import { closeSync, openSync, readSync } from 'node:fs'

/** Bytes of a file read at once if pieces are close together. */
const window = 4 << 20

/** Reads pieces of tapes for queries, which mostly request them in file order. */
export class RecordedText {
  readonly #recordings = new Map<string, readonly string[]>()
  readonly #files = new Map<string, number>()
  #path = ''
  #start = 0
  #bytes = Buffer.alloc(0)

  /** @param part identifies the recording and its state @param paths of the recording's files */
  add(part: string, paths: readonly string[]): void {
    this.#recordings.set(part, paths)
  }

  /**
   * @param file number of the file in the recording
   * @throws errors of the file system
   */
  at(part: string, file: number, start: number, end: number): string {
    const path = this.#recordings.get(part)?.[file]
    if (path === undefined) throw new Error('recorded_text reads the recordings of the query only')
    if (path !== this.#path || start < this.#start || end > this.#start + this.#bytes.length)
      this.#read(path, start, end)
    return this.#bytes.toString('utf8', start - this.#start, end - this.#start)
  }

  /** Forgets all recordings. */
  clear(): void {
    this.close()
    this.#recordings.clear()
  }

  /** Closes the files. The next `at` opens them again: their content may be another one then. */
  close(): void {
    for (const file of this.#files.values()) closeSync(file)
    this.#files.clear()
    this.#path = ''
    this.#bytes = Buffer.alloc(0)
  }

  #read(path: string, start: number, end: number): void {
    // A piece far from the last one is read alone.
    const isNext = path === this.#path && start >= this.#start && start - this.#start < window * 2
    const length = isNext ? Math.max(window, end - start) : end - start
    if (this.#bytes.buffer.byteLength < length || this.#bytes.buffer.byteLength > window * 4)
      this.#bytes = Buffer.allocUnsafeSlow(length)
    const bytes = Buffer.from(this.#bytes.buffer, 0, length)
    let file = this.#files.get(path)
    if (file === undefined) this.#files.set(path, (file = openSync(path, 'r')))
    let read = 0
    while (read < length) {
      const more = readSync(file, bytes, read, length - read, start + read)
      if (more === 0) break
      read += more
    }
    if (read < end - start) throw new Error(`${path} was truncated after it was indexed`)
    this.#path = path
    this.#start = start
    this.#bytes = bytes.subarray(0, read)
  }
}
