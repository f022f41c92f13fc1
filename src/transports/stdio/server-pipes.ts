import { spawn } from 'node:child_process'
import { once } from 'node:events'
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

const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = fs.constants

/**
 * Node connects a child by sockets, and a socket cannot be opened as `/dev/stderr` or `/dev/stdin` (ENXIO),
 * as `echo … > /dev/stderr` in a start script does. So the server gets a socket only where we have one
 * ourselves, and a pipe otherwise, as it would without us. Node has no pipe(2): named pipes replace it,
 * unlinked before anything is written.
 *
 * @param output the server's stdout is read into it. @default new memory for each read
 */
export async function createServerPipes(output?: ReadMemory): Promise<ServerPipes> {
  const wanted = process.platform === 'win32' ? [] : [0, 1, 2].filter((fd) => !isSocket(fd))
  const pipes = wanted.length === 0 ? new Map<number, NamedPipe>() : await makePipes(wanted, output)
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

/** Pipes that are made before the server can be started, as another program makes them. Taken or dropped once. */
export class EarlyPipes {
  readonly #pipes: Promise<ServerPipes>
  #isTaken = false

  constructor(output?: ReadMemory) {
    this.#pipes = createServerPipes(output)
  }

  /** The pipes; resolves when they are made. */
  take(): Promise<ServerPipes> {
    this.#isTaken = true
    return this.#pipes
  }

  /** Closes the pipes, unless they were taken. */
  drop(): void {
    if (!this.#isTaken) void this.#pipes.then((pipes) => pipes.discard())
  }
}

async function makePipes(fds: readonly number[], output?: ReadMemory): Promise<Map<number, NamedPipe>> {
  const pipes = new Map<number, NamedPipe>()
  let folder: string | undefined
  try {
    folder = makeTemporaryFolder()
    const paths = fds.map((fd) => join(folder!, String(fd)))
    const [status] = await once(spawn('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore' }), 'exit')
    if (status !== 0) return pipes
    for (const [i, fd] of fds.entries()) pipes.set(fd, openPipe(paths[i]!, fd, fd === 1 ? output : undefined))
  } catch {
    // No mkfifo, no space, or no descriptor left: sockets work for nearly every server as well.
  } finally {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true })
  }
  return pipes
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

function openPipe(path: string, fd: number, memory?: ReadMemory): NamedPipe {
  // Both directions are held open meanwhile, so that neither `open` below waits for its peer.
  const both = fs.openSync(path, O_RDWR | O_NONBLOCK)
  const serverReads = fd === 0
  const opened: number[] = []
  const open = (flags: number): number => {
    const descriptor = fs.openSync(path, flags)
    opened.push(descriptor)
    return descriptor
  }
  try {
    const child = open(serverReads ? O_RDONLY : O_WRONLY)
    const own = open((serverReads ? O_WRONLY : O_RDONLY) | O_NONBLOCK)
    const socket = memory
      ? new MemorySocket({ fd: own }, memory)
      : new net.Socket({ fd: own, readable: !serverReads, writable: serverReads })
    // A pipe has no half-close: its end is visible only once the descriptor is closed.
    if (serverReads) socket.once('finish', () => socket.destroy())
    return { child, own: socket }
  } catch (error) {
    for (const descriptor of opened) fs.closeSync(descriptor)
    throw error
  } finally {
    fs.closeSync(both)
  }
}

function isSocket(fd: number): boolean {
  try {
    return fs.fstatSync(fd).isSocket()
  } catch {
    return false
  }
}
