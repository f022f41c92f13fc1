import fs from 'node:fs'
import net from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { MemorySocket, type ReadMemory } from './memory-socket.js'

const nullDevice = process.platform === 'win32' ? String.raw`\\.\NUL` : '/dev/null'
const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants
// Opening a named pipe without a reader would block. (Windows has no such flag, and its pipes have no names.)
const modes = { r: O_RDONLY, w: O_WRONLY | (O_NONBLOCK ?? 0) } as const

/** Our side towards the client: our own three standard streams. */
export interface ClientStreams {
  readonly input: Readable
  readonly output: Writable
  readonly errorOutput: Writable
  /** Shows the client that nothing more is read. */
  closeInput(): void
  /** Shows the client the end of our output, once all of it is written. */
  closeOutput(): Promise<void>
}

/**
 * Opens stdin, stdout and stderr as streams that never block the process and can really be closed:
 * `process.stdout` ignores `end()`, and a client must see the end of output while we still run. Call this before
 * other threads exist, because descriptors are closed and their numbers reused.
 *
 * @param memory stdin is read into it where it is a pipe or a socket. @default new memory for each read
 */
export function openOwnStdio(memory?: ReadMemory): ClientStreams {
  const input = openStandard(0, 'r', memory) ?? process.stdin
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

/** A separate stream for a pipe or a socket; undefined where Node's own stream is sufficient. */
function openStandard(fd: 0 | 1 | 2, flags: 'r' | 'w', memory?: ReadMemory): net.Socket | undefined {
  const kind = pipeKind(fd)
  if (kind === undefined) return undefined
  const own = kind === 'pipe' && flags === 'w' ? reopen(fd) : undefined
  const socket = streamOf(own ?? fd, flags, memory)
  if (!socket) {
    if (own !== undefined) fs.closeSync(own)
    return undefined
  }
  // Stderr stays open for final messages. Node creates `process.stderr` from it when any socket is destroyed.
  if (own !== undefined) replace(fd, flags, fd === 2 ? `/proc/self/fd/${own}` : nullDevice)
  else if (fd !== 2) socket.once('close', () => replace(fd, flags, nullDevice))
  return socket
}

/** Undefined when libuv rejects the descriptor; Node's own stream may still accept it. */
function streamOf(fd: number, flags: 'r' | 'w', memory?: ReadMemory): net.Socket | undefined {
  try {
    if (memory) return new MemorySocket({ fd }, memory)
    return new net.Socket({ fd, readable: flags === 'r', writable: flags === 'w' })
  } catch {
    return undefined
  }
}

/**
 * The same pipe through our own open file description. Non-blocking mode is a flag of the description, and a
 * client often shares its stderr with us: the client's own writes would fail (EAGAIN). Linux only. Not for
 * reading: a named pipe that is reopened after its last writer closed it never reports its end.
 */
function reopen(fd: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return fs.openSync(`/proc/self/fd/${fd}`, modes.w)
  } catch {
    // The pipe belongs to another user, or its other end is closed.
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
 * Closes a standard descriptor, which libuv never does, and opens another file in its place, so that no file
 * opened later becomes stdin or stdout.
 */
function replace(fd: number, flags: 'r' | 'w', path: string): void {
  try {
    fs.closeSync(fd)
  } catch {
    // Already closed.
  }
  try {
    const taken = fs.openSync(path, modes[flags])
    if (taken !== fd) fs.closeSync(taken)
  } catch {
    // The other end of the pipe is closed.
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
