import type { Recorder, SessionEnd } from '../proxy/index.js'
import { startHttpProxy, type Access, type HttpEvent, type HttpProxy } from '../transports/index.js'
import { createReadBuffers } from './read-buffers.js'
import { prepareCapture } from './running-capture.js'
import type { CaptureFiles } from './capture-options.js'
import type { CaptureOptions, CaptureTarget, RunningCapture } from './capture-options.js'
import { untilSignal } from './signals.js'

/** What to record, and where to listen. */
export interface HttpProxyCaptureOptions extends CaptureOptions {
  readonly upstream: URL
  readonly transport: 'streamable-http' | 'sse'
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  readonly allowRemote: boolean
  /** Who may use it; undefined for everybody who can connect. */
  readonly access?: Access
  /** First part of the path of every request to the upstream, which is not recorded. */
  readonly upstreamPrefix?: string
  readonly insecure: boolean
  readonly oauthRewrite: boolean
  /** What the tape says it is about, where that is not the upstream. */
  readonly target?: CaptureTarget
  /** Somebody who attached wants the session to end. */
  stop(): void
  /** Starts its server again. @returns how many processes */
  reloadServers?(): Promise<number>
  /** Something the user should know, in one line. */
  onNotice(line: string): void
}

/** The same, for whoever comes. */
export interface HttpCaptureOptions extends Omit<HttpProxyCaptureOptions, 'stop'> {
  /**
   * Called with the URL for clients once they can connect.
   *
   * @param remoteUrl for those on other hosts, where that is another one
   */
  onListening(url: string, remoteUrl: string | undefined): void
}

/** A proxy that records what passes. */
export interface HttpCapture {
  /** For clients. */
  readonly url: string
  /** For clients on other hosts, where that is another one. */
  readonly remoteUrl: string | undefined
  readonly recorder: Recorder
  /** Resolves when nothing is being answered, or after this time. */
  settled(withinMs: number): Promise<void>
  /** Ends what passes, and the tape. */
  finish(end: SessionEnd): Promise<CaptureFiles>
  /** Gives everything up; can be called at any time, and twice. */
  close(): Promise<void>
}

/**
 * Listens, and stands between clients and an HTTP server.
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
  // The port first: a tape of a recorder that could not listen helps nobody.
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
 * Listens for the clients of an HTTP server and stands between them until SIGINT, SIGTERM or SIGHUP.
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
