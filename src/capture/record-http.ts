import type { Recorder, SessionEnd } from '../proxy/index.js'
import { startHttpProxy, type Access, type HttpEvent, type HttpProxy } from '../transports/index.js'
import { createReadBuffers } from './read-buffers.js'
import { prepareCapture } from './running-capture.js'
import type { CaptureFiles } from './capture-options.js'
import type { CaptureOptions, CaptureTarget, RunningCapture } from './capture-options.js'
import { untilSignal } from './signals.js'

/** The recorded server, and the listening address. */
export interface HttpProxyCaptureOptions extends CaptureOptions {
  readonly upstream: URL
  readonly transport: 'streamable-http' | 'sse'
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly allowRemote: boolean
  /** Access control; undefined admits every client that can connect. */
  readonly access?: Access
  /** First part of the path of every upstream request; not recorded. */
  readonly upstreamPrefix?: string
  readonly insecure: boolean
  readonly oauthRewrite: boolean
  /** The target named on the tape, if it is not the upstream. */
  readonly target?: CaptureTarget
  /** An attached program wants to end the session. */
  stop(): void
  /** Restarts its server. @returns number of processes */
  reloadServers?(): Promise<number>
  /** Information for the user, in one line. */
  onNotice(line: string): void
}

/** Options of a recording proxy for any clients. */
export interface HttpCaptureOptions extends Omit<HttpProxyCaptureOptions, 'stop'> {
  /**
   * Called with the URL for clients once they can connect.
   *
   * @param remoteUrl for clients on other hosts, if different
   */
  onListening(url: string, remoteUrl: string | undefined): void
}

/** A recording proxy. */
export interface HttpCapture {
  /** URL for clients. */
  readonly url: string
  /** For clients on other hosts, if different. */
  readonly remoteUrl: string | undefined
  readonly recorder: Recorder
  /** Resolves when no response is in progress, or after this time. */
  settled(withinMs: number): Promise<void>
  /** Ends all traffic, and the tape. */
  finish(end: SessionEnd): Promise<CaptureFiles>
  /** Releases everything; can be called at any time, and twice. */
  close(): Promise<void>
}

/**
 * Listens, and forwards between clients and an HTTP server.
 *
 * @throws WiretapeError before anything is recorded: `usage`, `unwritable`
 */
export async function startHttpCapture(options: HttpProxyCaptureOptions): Promise<HttpCapture> {
  const prepared = await prepareCapture(options)
  const readBuffers = createReadBuffers()
  let record: ((event: HttpEvent) => void) | undefined
  const { upstream, host, port, allowRemote, access, insecure, oauthRewrite, transport } = options
  let proxy: HttpProxy | undefined
  const hold = (wait: boolean): void => proxy?.hold(wait)
  // The port first: a tape of a recorder that could not listen is useless.
  const listening = await startHttpProxy({
    upstream,
    host,
    port,
    allowRemote,
    access: access && { onNotice: (line) => options.onNotice(line), ...access },
    upstreamPrefix: options.upstreamPrefix ?? '',
    insecure,
    oauthRewrite,
    ...(prepared.conversationKey !== undefined && { conversationKey: prepared.conversationKey }),
    onEvent(event) {
      record?.(event)
      if ('bytes' in event) readBuffers.passed(event.bytes.length)
    },
    onNotice: (line) => options.onNotice(line),
  })
  proxy = listening
  listening.hold(true)
  let capture: RunningCapture
  try {
    capture = prepared.start(options.target ?? { transport, command: [], url: upstream.href })
  } catch (error) {
    await listening.close()
    throw error
  }
  const recorder = capture.record(hold)
  record = (event) => recorder.http(event)
  capture.register()
  await recorder.ready
  capture.live.connect({
    url: listening.url,
    stop: () => options.stop(),
    ...(options.reloadServers && { reloadServers: () => options.reloadServers!() }),
    makeWire: ({ createHttpWire }, intercept, ledger) =>
      createHttpWire(listening, intercept, ledger, options.transport),
  })
  listening.hold(false)
  await capture.live.listen()
  return {
    url: listening.url,
    remoteUrl: listening.remoteUrl,
    recorder,
    settled: (withinMs) => listening.settled(withinMs),
    async finish(end) {
      capture.live.intercept?.ends()
      await listening.close()
      return capture.finish(end)
    },
    async close() {
      await listening.close()
      capture.close()
    },
  }
}

/**
 * Listens for the clients of an HTTP server and forwards until SIGINT, SIGTERM or SIGHUP.
 *
 * @throws WiretapeError before anything is recorded: `usage`, `unwritable`
 */
export async function recordHttp(options: HttpCaptureOptions): Promise<CaptureFiles> {
  const ended = untilSignal()
  let capture: HttpCapture | undefined
  try {
    capture = await startHttpCapture({ ...options, stop: () => ended.end('SIGTERM') })
    options.onListening(capture.url, capture.remoteUrl)
    await ended.signal
    return await capture.finish({ exitCode: 0 })
  } finally {
    await capture?.close()
    ended.cancel()
  }
}
