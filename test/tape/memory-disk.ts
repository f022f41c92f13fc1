import type { Disk } from '../../src/tape/index.js'

type Operation = 'open' | 'write' | 'truncate' | 'fsync' | 'mkdir' | 'unlink'

interface Content {
  bytes: Uint8Array
  links: number
  open: number
}

/** A disk in memory that is as full and as broken as a test wants. */
export class MemoryDisk {
  /** Bytes of everything on it, open files without a name included. */
  capacity = Infinity
  /** Asked before each operation: the code to fail with, or how many bytes a write takes at most. */
  fault: (operation: Operation, path: string) => string | number | undefined = () => undefined
  readonly #files = new Map<string, Content>()
  readonly #open = new Map<number, { path: string; content: Content }>()
  #nextFd = 100

  get disk(): Disk {
    const part = {
      openSync: (path: string) => this.#openNew(path),
      writeSync: (fd: number, bytes: Uint8Array, from: number, length?: number, at?: number) =>
        this.#write(fd, bytes.subarray(from, length === undefined ? undefined : from + length), at),
      ftruncateSync: (fd: number, size: number) => {
        const { path, content } = this.#of(fd)
        this.#ask('truncate', path)
        content.bytes = content.bytes.slice(0, size)
      },
      fstatSync: (fd: number) => ({
        nlink: this.#of(fd).content.links,
        size: this.#of(fd).content.bytes.length,
      }),
      fsyncSync: (fd: number) => void this.#ask('fsync', this.#of(fd).path),
      closeSync: (fd: number) => {
        this.#of(fd).content.open -= 1
        this.#open.delete(fd)
      },
      mkdirSync: (path: string) => void this.#ask('mkdir', path),
      unlinkSync: (path: string) => {
        this.#ask('unlink', path)
        this.remove(path)
      },
    }
    return part as unknown as Disk
  }

  get openFiles(): number {
    return this.#open.size
  }

  /** Names in the order of creation. */
  get paths(): string[] {
    return [...this.#files.keys()]
  }

  text(path: string): string {
    const content = this.#files.get(path)
    if (!content) throw new Error(`no ${path}`)
    return new TextDecoder('utf-8', { fatal: true }).decode(content.bytes)
  }

  remove(path: string): void {
    const content = this.#files.get(path)
    if (!content) throw failure('ENOENT')
    content.links = 0
    this.#files.delete(path)
  }

  #used(): number {
    const all = new Set([...this.#files.values(), ...[...this.#open.values()].map(({ content }) => content)])
    return [...all].reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  #openNew(path: string): number {
    this.#ask('open', path)
    if (this.#files.has(path)) throw failure('EEXIST')
    const content = { bytes: new Uint8Array(0), links: 1, open: 1 }
    this.#files.set(path, content)
    const fd = this.#nextFd++
    this.#open.set(fd, { path, content })
    return fd
  }

  #write(fd: number, bytes: Uint8Array, at: number | undefined): number {
    const { path, content } = this.#of(fd)
    const most = this.#ask('write', path) ?? Infinity
    const start = at ?? content.bytes.length
    const room = this.capacity - this.#used() + Math.max(0, content.bytes.length - start)
    if (room <= 0) throw failure('ENOSPC')
    const count = Math.min(bytes.length, room, most)
    const grown = new Uint8Array(Math.max(content.bytes.length, start + count))
    grown.set(content.bytes)
    grown.set(bytes.subarray(0, count), start)
    content.bytes = grown
    return count
  }

  #of(fd: number): { path: string; content: Content } {
    const open = this.#open.get(fd)
    if (!open) throw failure('EBADF')
    return open
  }

  #ask(operation: Operation, path: string): number | undefined {
    const answer = this.fault(operation, path)
    if (typeof answer === 'string') throw failure(answer)
    return answer
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(`${code}: made up`), { code })
}
