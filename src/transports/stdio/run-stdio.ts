import { Pump, type PumpObserver, type Valve, type ValvePort } from './pump.js'
import type { ClientStreams } from './own-stdio.js'
import type { ServerExit, ServerProcess } from './server-process.js'

/** Output counts as ended when nothing was readable for this long after the server's exit (milliseconds). */
const drainIdleMs = 2_000
/** The same after a signal was forwarded: clients kill a program that lives for 2 s after SIGTERM. */
const signalledIdleMs = 500
/** After a signal, a client that accepts nothing for this long is not waited for either (milliseconds). */
const signalledBlockedMs = 1_000

type Channel = 'in' | 'out' | 'err'

/** Sees all bytes after they were forwarded. */
export interface StdioObserver {
  /** @param atMs arrival, by `performance.now()` @param wallMs the same in milliseconds since the epoch */
  chunk(channel: Channel, bytes: Buffer, atMs: number, wallMs: number): void
  ended(channel: Channel): void
  /** Only the first `deliveredBytes` reached the other side. */
  broken(channel: Channel, deliveredBytes: number, why: string): void
}

/** A client and a server connected through us. */
export interface StdioRun {
  /** Stops reading from both sides, or resumes. */
  hold(wait: boolean): void
  /** Inserts a valve into each direction, or removes both. */
  setValves(make: ((channel: 'in' | 'out', port: ValvePort) => Valve) | undefined): void
  /** Closes both sides at once, as if the server had ended. */
  disconnect(): void
  /** Forwards a signal to the server. After its exit, a signal ends the wait for the remaining output. */
  signal(signal: NodeJS.Signals): void
  /** Resolves when the server has ended and all its output was forwarded. */
  readonly finished: Promise<ServerExit>
}

/** Connects the streams of a client to the pipes of a running server. */
export function runStdio(server: ServerProcess, client: ClientStreams, observer: StdioObserver): StdioRun {
  const observe = (channel: Channel): PumpObserver => ({
    chunk: (bytes, atMs, wallMs) => observer.chunk(channel, bytes, atMs, wallMs),
    ended: () => observer.ended(channel),
    broken: (deliveredBytes, why) => observer.broken(channel, deliveredBytes, why),
  })
  const input = new Pump(client.input, server.stdin, observe('in'))
  const output = new Pump(server.stdout, client.output, observe('out'))
  // Stderr that cannot be written must not cost the server its life, or its stdout.
  const errors = new Pump(server.stderr, client.errorOutput, observe('err'), { readsOn: true })
  let held = false
  /** Starts the wait for the server's last output anew. */
  let released: () => void = () => undefined
  let gone = false
  let signalled = false
  let giveUp: () => void = () => undefined

  // A side that closes must look closed to the other side, as without us. Broken streams are closed at once on
  // both sides, because writes that wait for a reader would keep the process alive.
  void input.done.then(() => {
    if (!input.broken) return server.stdin.end()
    server.stdin.destroy()
    client.closeInput()
  })
  void output.done.then(() => {
    if (!output.broken) return client.closeOutput()
    server.stdout.destroy()
    client.output.destroy()
  })
  void errors.done.then(() => {
    if (!errors.broken) return
    server.stderr.destroy()
    client.errorOutput.destroy()
  })

  const finished = server.exited.then(async (exit) => {
    gone = true
    const drained = Promise.all([output.done, errors.done])
    await Promise.race([
      drained,
      idle([output, errors], { held: () => held, signalled, onRelease: (anew) => (released = anew) }),
      new Promise<void>((resolve) => (giveUp = resolve)),
    ])
    input.stop('the server has ended')
    for (const pump of [output, errors]) pump.stop('the client did not read')
    for (const pipe of [server.stdin, server.stdout, server.stderr]) pipe.destroy()
    client.closeInput()
    return exit
  })

  return {
    hold(wait) {
      held = wait
      for (const pump of [input, output, errors]) pump.hold(wait)
      if (!wait) released()
    },
    setValves(make) {
      for (const [channel, pump] of [
        ['in', input],
        ['out', output],
      ] as const) {
        pump.setValve(make && ((port) => make(channel, port)))
      }
    },
    disconnect() {
      input.stop('a rule closed the connection')
      output.stop('a rule closed the connection')
      server.stdin.destroy()
      client.closeInput()
    },
    signal(signal) {
      if (gone) giveUp()
      else {
        signalled = true
        server.kill(signal)
      }
    },
    finished,
  }
}

interface IdleSource {
  readonly held: () => boolean
  readonly signalled: boolean
  /** Takes what to call when nothing is held any more. */
  readonly onRelease: (anew: () => void) => void
}

/**
 * Resolves after a period without data. Time in which nothing could be read does not count, but after a signal only while
 * the client still reads.
 */
function idle(pumps: readonly Pump[], { held, signalled, onRelease }: IdleSource): Promise<void> {
  const idleMs = signalled ? signalledIdleMs : drainIdleMs
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined
    let activeMs = performance.now()
    const restart = (): void => {
      clearTimeout(timer)
      timer = setTimeout(check, idleMs)
    }
    const check = (): void => {
      if (held()) return note()
      const isGivenUp = signalled && performance.now() - activeMs >= signalledBlockedMs
      if (pumps.some((pump) => pump.blocked) && !isGivenUp) return restart()
      resolve()
    }
    const note = (): void => {
      activeMs = performance.now()
      restart()
    }
    restart()
    onRelease(note)
    for (const pump of pumps) pump.onActivity = note
    void Promise.all(pumps.map((pump) => pump.done)).then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
