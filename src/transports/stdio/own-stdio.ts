import fs from 'node:fs'
import net from 'node:net'
import type { Readable, Writable } from 'node:stream'

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
 * `process.stdout` ignores `end()`, and a client must see the end of output while we still run.
 */
export function openOwnStdio(): ClientStreams {
  const input = isPipe(0) ? new net.Socket({ fd: 0, readable: true, writable: false }) : process.stdin
  const output = isPipe(1) ? new net.Socket({ fd: 1, readable: false, writable: true }) : process.stdout
  const errorOutput = isPipe(2) ? new net.Socket({ fd: 2, readable: false, writable: true }) : process.stderr
  let inputClosed = false
  let outputClosed: Promise<void> | undefined
  return {
    input,
    output,
    errorOutput,
    closeInput() {
      if (inputClosed) return
      inputClosed = true
      input.destroy()
      if (input instanceof net.Socket && isPipe(0)) input.once('close', () => vacate(0, 'r'))
    },
    closeOutput: () => (outputClosed ??= endOutput(output)),
  }
}

function endOutput(output: Writable): Promise<void> {
  if (!(output instanceof net.Socket) || output === (process.stdout as Writable)) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      vacate(1, 'w')
      resolve()
    }
    if (output.closed) return done()
    output.once('close', done)
    output.end(() => output.destroy())
  })
}

/**
 * Closes a standard descriptor, which libuv never does by itself, and puts the null device in its place, so
 * that no file opened later becomes stdin or stdout.
 */
function vacate(fd: number, flags: 'r' | 'w'): void {
  try {
    fs.closeSync(fd)
    const taken = fs.openSync(process.platform === 'win32' ? String.raw`\\.\NUL` : '/dev/null', flags)
    if (taken !== fd) fs.closeSync(taken)
  } catch {
    // Closed already.
  }
}

function isPipe(fd: number): boolean {
  try {
    const info = fs.fstatSync(fd)
    return info.isFIFO() || info.isSocket()
  } catch {
    return false
  }
}
