import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { MemorySocket, type ReadMemory } from './memory-socket.js'

/** A pipe to or from a server: `child` is the descriptor that the server inherits, `own` is our end. */
interface NamedPipe {
  readonly child: number
  readonly own: net.Socket
}

/** The pipes for which Node itself would create sockets; undefined where a socket is right. */
export interface ServerPipes {
  readonly stdin?: NamedPipe
  readonly stdout?: NamedPipe
  readonly stderr?: NamedPipe
  /** Call when the server has its ends, or did not start. */
  closeChildEnds(): void
  /** Call when the server did not start: closes our ends too. */
  discard(): void
}

export interface ServerPipesOptions {
  /** The server's stdout is read into it. @default new memory for each read */
  readonly output?: ReadMemory
  /**
   * Private folder that keeps named pipes for later starts. Making pipes starts a process, which delays a server by 15
   * to 25 ms. @default a temporary one
   */
  readonly spareFolder?: string
}

/** Spare pipes that are made at once. */
const spareCount = 24

const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = fs.constants

/**
 * Node connects a child by sockets, and a socket cannot be opened as `/dev/stderr` or `/dev/stdin` (ENXIO),
 * as `echo … > /dev/stderr` in a start script does. So the server gets a socket only where we have one
 * ourselves, and a pipe otherwise, as it would without us. Node has no pipe(2): named pipes replace it,
 * unlinked before anything is written.
 */
export function createServerPipes(options: ServerPipesOptions): ServerPipes {
  const wanted = process.platform === 'win32' ? [] : [0, 1, 2].filter((fd) => !isSocket(fd))
  const pipes = makePipes(wanted, options)
  const childEnds = [...pipes.values()].map(({ child }) => child)
  const [stdin, stdout, stderr] = [pipes.get(0), pipes.get(1), pipes.get(2)]
  const closeChildEnds = (): void => {
    for (const fd of childEnds.splice(0)) fs.closeSync(fd)
  }
  return {
    ...(stdin && { stdin }),
    ...(stdout && { stdout }),
    ...(stderr && { stderr }),
    closeChildEnds,
    discard() {
      closeChildEnds()
      for (const { own } of pipes.values()) own.destroy()
    },
  }
}

function makePipes(
  fds: readonly number[],
  { output, spareFolder }: ServerPipesOptions,
): ReadonlyMap<number, NamedPipe> {
  const pipes = new Map<number, NamedPipe>()
  let temporary: string | undefined
  try {
    if (spareFolder !== undefined) takePipes(pipes, fds, { folder: spareFolder, count: spareCount, output })
    if (pipes.size < fds.length) {
      temporary = makeTemporaryFolder()
      takePipes(pipes, fds, { folder: temporary, count: fds.length, output })
    }
  } catch {
    // No space, or no descriptor left: sockets work for nearly every server as well.
  } finally {
    if (temporary !== undefined) fs.rmSync(temporary, { recursive: true, force: true })
  }
  return pipes
}

interface PipeSource {
  readonly folder: string
  /** Pipes to make, once, if the folder has too few. */
  readonly count: number
  readonly output: ReadMemory | undefined
}

/** Takes a pipe for each descriptor that has none. Some may stay without: there is no mkfifo, or no space. */
function takePipes(
  pipes: Map<number, NamedPipe>,
  fds: readonly number[],
  { folder, count, output }: PipeSource,
): void {
  const missing = fds.filter((fd) => !pipes.has(fd))
  const take = (): void => {
    for (const name of pipeNames(folder)) {
      const [fd] = missing
      if (fd === undefined) return
      const pipe = takePipe(join(folder, name), fd, fd === 1 ? output : undefined)
      if (!pipe) continue
      pipes.set(fd, pipe)
      missing.shift()
    }
  }
  take()
  if (missing.length === 0) return
  makeNamedPipes(folder, count)
  take()
}

/** Makes as many pipes as possible. Their names are never used again. */
function makeNamedPipes(folder: string, count: number): void {
  const batch = randomBytes(6).toString('hex')
  const names = Array.from({ length: count }, (_, n) => `${batch}-${n}`)
  spawnSync('mkfifo', ['-m', '600', ...names], { cwd: folder, stdio: 'ignore' })
}

function pipeNames(folder: string): string[] {
  try {
    return fs.readdirSync(folder).filter((name) => /^[0-9a-f]{12}-\d+$/.test(name))
  } catch {
    return []
  }
}

/** The first writable folder. The environment that names some of them may be wrong. */
function makeTemporaryFolder(): string {
  for (const parent of [os.tmpdir(), '/tmp', '/dev/shm']) {
    try {
      return fs.mkdtempSync(join(parent, 'wiretape-'))
    } catch {
      // Try the next one.
    }
  }
  return fs.mkdtempSync(join(os.homedir(), '.wiretape-'))
}

/**
 * Opens both ends of a named pipe and removes its name. Undefined if another process did so first, which owns the pipe
 * then, or if this is no pipe that can be used.
 */
function takePipe(path: string, fd: number, memory: ReadMemory | undefined): NamedPipe | undefined {
  const opened: number[] = []
  const open = (flags: number): number => {
    const descriptor = fs.openSync(path, flags)
    opened.push(descriptor)
    return descriptor
  }
  let taken: NamedPipe | undefined
  try {
    // Both directions are held open meanwhile, so that neither later `open` waits for its peer.
    const both = open(O_RDWR | O_NONBLOCK)
    const child = open(fd === 0 ? O_RDONLY : O_WRONLY)
    const own = open((fd === 0 ? O_WRONLY : O_RDONLY) | O_NONBLOCK)
    const isPipe = [child, own].every((descriptor) => fs.fstatSync(descriptor).isFIFO())
    fs.unlinkSync(path)
    if (isPipe) {
      taken = { child, own: socketOf(own, fd, memory) }
      opened.splice(0, Infinity, both)
    }
  } catch {
    // The next pipe may do.
  } finally {
    for (const descriptor of opened) fs.closeSync(descriptor)
  }
  return taken
}

function socketOf(own: number, fd: number, memory: ReadMemory | undefined): net.Socket {
  if (memory) return new MemorySocket({ fd: own }, memory)
  const socket = new net.Socket({ fd: own, readable: fd !== 0, writable: fd === 0 })
  // A pipe has no half-close: its end is visible only once the descriptor is closed.
  if (fd === 0) socket.once('finish', () => socket.destroy())
  return socket
}

function isSocket(fd: number): boolean {
  try {
    return fs.fstatSync(fd).isSocket()
  } catch {
    return false
  }
}
