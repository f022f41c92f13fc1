import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import { join } from 'node:path'

/** A pipe to or from a server: `child` is the descriptor it inherits, `own` our end. */
interface NamedPipe {
  readonly child: number
  readonly own: net.Socket
}

/** The pipes of a server that Node itself would make sockets; undefined where a socket is right. */
export interface ServerPipes {
  readonly stdin?: NamedPipe
  readonly stdout?: NamedPipe
  readonly stderr?: NamedPipe
  /** The server has its ends, or will never have them. */
  closeChildEnds(): void
  /** Nothing was started: our ends are given up too. */
  discard(): void
}

const { O_RDONLY, O_WRONLY, O_RDWR, O_NONBLOCK } = fs.constants

/**
 * Node connects a child by sockets, and a socket cannot be opened as `/dev/stderr` or `/dev/stdin` (ENXIO),
 * which is what `echo … > /dev/stderr` in a start script does. So a server gets a socket only where we were
 * given one ourselves, and a pipe everywhere else, as it would have without us. Node has no pipe(2): named
 * pipes take its place, unlinked before anything is written.
 */
export function createServerPipes(): ServerPipes {
  const wanted = process.platform === 'win32' ? [] : [0, 1, 2].filter((fd) => !isSocket(fd))
  const pipes = wanted.length === 0 ? new Map<number, NamedPipe>() : makePipes(wanted)
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

function makePipes(fds: readonly number[]): Map<number, NamedPipe> {
  const pipes = new Map<number, NamedPipe>()
  let folder: string | undefined
  try {
    folder = makeTemporaryFolder()
    const paths = fds.map((fd) => join(folder!, String(fd)))
    const made = spawnSync('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore' })
    if (made.status !== 0) return pipes
    for (const [i, fd] of fds.entries()) pipes.set(fd, openPipe(paths[i]!, fd))
  } catch {
    // No mkfifo, no room for it, no descriptor left: sockets serve nearly every server as well.
  } finally {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true })
  }
  return pipes
}

/** The first of these that can be written; some are named by an environment that is not ours. */
function makeTemporaryFolder(): string {
  for (const parent of [os.tmpdir(), '/tmp', '/dev/shm']) {
    try {
      return fs.mkdtempSync(join(parent, 'wiretape-'))
    } catch {
      // The next one.
    }
  }
  return fs.mkdtempSync(join(os.homedir(), '.wiretape-'))
}

function openPipe(path: string, fd: number): NamedPipe {
  // Held open on both sides meanwhile, so that neither of the other two waits for its peer.
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
    const socket = new net.Socket({ fd: own, readable: !serverReads, writable: serverReads })
    // A pipe has no half-close: its end is seen only when the descriptor is closed.
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
