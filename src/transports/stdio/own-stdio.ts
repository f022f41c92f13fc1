import fs from 'node:fs'
import net from 'node:net'
import type { Readable, Writable } from 'node:stream'

const nullDevice = process.platform === 'win32' ? String.raw`\\.\NUL` : '/dev/null'
const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants
// A named pipe without a reader would keep us waiting. (Windows knows no such flag, and its pipes have no names.)
const modes = { r: O_RDONLY, w: O_WRONLY | (O_NONBLOCK ?? 0) } as const

/** Our side towards the client: the three streams we were started with. */
export interface ClientStreams {
  readonly input: Readable
  readonly output: Writable
  readonly errorOutput: Writable
  /** Lets the client see that we read no more. */
  closeInput(): void
  /** Lets the client see the end of our output, once all of it is written. */
  closeOutput(): Promise<void>
}

/**
 * Opens stdin, stdout and stderr as streams that never block the process and can really be closed:
 * `process.stdout` ignores `end()`, and a client must see the end of output while we still run. To be called
 * before there are other threads: descriptors are closed and their numbers taken again.
 */
export function openOwnStdio(): ClientStreams {
  const input = openStandard(0, 'r') ?? process.stdin
  const ownOutput = openStandard(1, 'w')
  const errorOutput = openStandard(2, 'w') ?? process.stderr
  let outputClosed: Promise<void> | undefined
  return {
    input,
    output: ownOutput ?? process.stdout,
    errorOutput,
    closeInput: () => void input.destroy(),
    closeOutput: () => (outputClosed ??= ownOutput ? endOutput(ownOutput) : Promise.resolve()),
  }
}

/** A stream of its own for a pipe or a socket; undefined for what Node's own stream serves as well. */
function openStandard(fd: 0 | 1 | 2, flags: 'r' | 'w'): net.Socket | undefined {
  const kind = pipeKind(fd)
  if (kind === undefined) return undefined
  const own = kind === 'pipe' && flags === 'w' ? reopen(fd) : undefined
  const socket = streamOf(own ?? fd, flags)
  if (!socket) {
    if (own !== undefined) fs.closeSync(own)
    return undefined
  }
  // Stderr stays open for our last words. Node makes `process.stderr` of it when any socket is destroyed.
  if (own !== undefined) replace(fd, flags, fd === 2 ? `/proc/self/fd/${own}` : nullDevice)
  else if (fd !== 2) socket.once('close', () => replace(fd, flags, nullDevice))
  return socket
}

/** Undefined when libuv does not take the descriptor; Node's own stream may still do. */
function streamOf(fd: number, flags: 'r' | 'w'): net.Socket | undefined {
  try {
    return new net.Socket({ fd, readable: flags === 'r', writable: flags === 'w' })
  } catch {
    return undefined
  }
}

/**
 * The same pipe by an open file description of our own. That we do not block is a flag of the description,
 * and a client often shares its stderr with us: its own writes would begin to fail (EAGAIN). Only Linux can.
 * Not for reading: a named pipe opened again after its last writer closed it never tells its end.
 */
function reopen(fd: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return fs.openSync(`/proc/self/fd/${fd}`, modes.w)
  } catch {
    // Another user's pipe, or nobody at its other end any more.
    return undefined
  }
}

function endOutput(output: net.Socket): Promise<void> {
  return new Promise((resolve) => {
    if (output.closed) return resolve()
    output.once('close', resolve)
    output.end(() => output.destroy())
  })
}

/**
 * Closes a standard descriptor, which libuv never does by itself, and puts another file in its place, so
 * that no file opened later becomes stdin or stdout.
 */
function replace(fd: number, flags: 'r' | 'w', path: string): void {
  try {
    fs.closeSync(fd)
  } catch {
    // Closed already.
  }
  try {
    const taken = fs.openSync(path, modes[flags])
    if (taken !== fd) fs.closeSync(taken)
  } catch {
    // Nobody is at the other end of the pipe any more.
    if (path !== nullDevice) replace(fd, flags, nullDevice)
  }
}

function pipeKind(fd: number): 'pipe' | 'socket' | undefined {
  try {
    const info = fs.fstatSync(fd)
    return info.isFIFO() ? 'pipe' : info.isSocket() ? 'socket' : undefined
  } catch {
    return undefined
  }
}
