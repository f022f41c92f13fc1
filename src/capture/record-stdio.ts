import { openOwnStdio, runStdio, type ServerExit, type StdioRun } from '../transports/index.js'
import { PooledMemory, type Recorder } from '../proxy/index.js'
import { createReadBuffers } from './read-buffers.js'
import type { Reloads, ReloadSettings } from './reload.js'
import { prepareCapture } from './running-capture.js'
import type { CaptureFiles } from './capture-options.js'
import type { CaptureOptions, RunningCapture } from './capture-options.js'
import { ServerStart } from './server-start.js'
import { isEnding } from './signals.js'

/** The server to record, and the tape. */
export interface StdioCaptureOptions extends CaptureOptions {
  /** The server's argv, at least the program. */
  readonly command: readonly string[]
  /** The server's process, if it is started already. */
  readonly server?: ServerStart
  /** Allows its process to be replaced while the client is connected. */
  readonly reload?: ReloadSettings
}

/** How a capture ended. */
export interface CaptureResult extends CaptureFiles {
  /** Our exit status: the server's status, 128 + signal, or 127 when it could not be started. */
  readonly exitCode: number
  /** Why the server could not be started. */
  readonly notStarted?: string
}

/** Time without any output of the server after which programs can attach (milliseconds). */
const listenDelayMs = 100

/**
 * Lets programs attach after the server's first output, or a while without any: loading that code delays messages by 10
 * ms, and the first ones are waiting.
 */
class Opening {
  readonly #live: RunningCapture['live']
  #timer: NodeJS.Timeout | undefined
  isOver = false

  constructor(live: RunningCapture['live']) {
    this.#live = live
  }

  soon(): void {
    if (this.isOver) return
    this.#timer = setTimeout(() => this.now(), listenDelayMs)
  }

  now(): void {
    if (this.isOver) return
    this.cancel()
    void this.#live.listen()
  }

  cancel(): void {
    this.isOver = true
    clearTimeout(this.#timer)
  }
}

/**
 * Starts the server and forwards between it and the parent process, until it has ended and all is on the tape.
 *
 * @throws WiretapeError before anything is forwarded: `unwritable` when there can be no tape, `usage` for an invalid
 *   redaction rule
 */
export async function recordStdio(options: StdioCaptureOptions): Promise<CaptureResult> {
  const prepared = await prepareCapture(options)
  // From now on, if not earlier, signals end the process properly.
  const server = options.server ?? new ServerStart()
  try {
    const capture = prepared.start({ transport: 'stdio', command: options.command, url: null })
    return await forward(capture, server, options)
  } finally {
    await server.abandon()
  }
}

async function forward(
  capture: RunningCapture,
  server: ServerStart,
  options: StdioCaptureOptions,
): Promise<CaptureResult> {
  let run: StdioRun | undefined
  /** Held messages must not delay the end of a session. */
  function end(signal: NodeJS.Signals): void {
    if (isEnding(signal)) capture.live.intercept?.ends()
    run?.signal(signal)
  }
  const { live } = capture
  const opening = new Opening(live)
  const client = openOwnStdio(new PooledMemory(server.pool))
  const reloads = options.reload && (await reloadsOf(options.reload, options, capture))
  // A server that is replaced has several outputs, so they are not read into the pool.
  const starting = reloads ? reloads.start(options.command) : server.start(options)
  try {
    const recorder = capture.record((wait) => run?.hold(wait), server)
    capture.register()
    const running = await starting
    if ('error' in running) {
      const error = capture.redactor.text(running.error)
      return { exitCode: 127, notStarted: error, ...(await capture.finish({ exitCode: 127, error })) }
    }
    const started = runStdio(running, client, observerOf(recorder, live, opening))
    run = started
    // Reading starts only when recording is ready. The server needs that time to start as well.
    run.hold(true)
    live.connect({
      makeWire: ({ createStdioWire }, intercept, ledger) => createStdioWire(started, intercept, ledger),
      stop: () => end('SIGTERM'),
      ...(reloads && { reloadServers: () => reloads.reload() }),
    })
    void running.exited.then(() => live.intercept?.lost('client_to_server', 'the server has ended'))
    void recorder.ready.then(() => {
      started.hold(false)
      void reloads?.watch()
      opening.soon()
    })
    server.connect(end)
    const exit = await run.finished
    opening.cancel()
    return { exitCode: exit.exitCode, ...(await capture.finish(endOf(exit))) }
  } finally {
    reloads?.close()
    client.closeInput()
    capture.close()
  }
}

function observerOf(
  recorder: Recorder,
  live: RunningCapture['live'],
  opening: Opening,
): Parameters<typeof runStdio>[2] {
  const readBuffers = createReadBuffers()
  return {
    chunk(channel, bytes, atMs, wallMs) {
      recorder.bytes(channel, bytes, atMs, wallMs)
      if (channel === 'out' && !opening.isOver) setImmediate(() => opening.now())
      if (!(bytes.buffer instanceof SharedArrayBuffer)) readBuffers.passed(bytes.length)
    },
    ended(channel) {
      recorder.ended(channel)
      if (channel !== 'err') live.intercept?.sourceEnded(directionOf[channel])
    },
    broken(channel, deliveredBytes, why) {
      if (channel === 'err') return
      live.intercept?.lost(directionOf[channel], why)
      recorder.undelivered(channel, deliveredBytes, why)
    },
  }
}

/** Loaded only if requested. */
async function reloadsOf(
  settings: ReloadSettings,
  { onTrouble }: CaptureOptions,
  { live, note }: RunningCapture,
): Promise<Reloads> {
  const { Reloads } = await import('./reload.js')
  return new Reloads(settings, {
    note,
    notice: (line) => onTrouble?.(line),
    say: (text) => live.say(text),
  })
}

const directionOf = { in: 'client_to_server', out: 'server_to_client' } as const

function endOf(exit: ServerExit): { exitCode: number; signal?: string } {
  return { exitCode: exit.exitCode, ...(exit.signal !== undefined && { signal: exit.signal }) }
}
