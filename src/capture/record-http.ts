import { WiretapeError } from '../model/index.js'
import { startHttpProxy, type HttpEvent, type HttpProxy } from '../transports/index.js'
import { createReadBuffers } from './read-buffers.js'
import { prepareCapture, type CaptureFiles, type CaptureOptions } from './running-capture.js'
import { untilSignal } from './signals.js'

/** What to record, where to listen for its clients. */
export interface HttpCaptureOptions extends CaptureOptions {
  readonly upstream: URL
  readonly transport: 'streamable-http' | 'sse'
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  readonly allowRemote: boolean
  readonly insecure: boolean
  readonly oauthRewrite: boolean
  /** Called with the URL for clients once they can connect. */
  onListening(url: string): void
  /** Something the user should know, in one line. */
  onNotice(line: string): void
}

/**
 * Listens for the clients of an HTTP server and stands between them until SIGINT, SIGTERM or SIGHUP.
 *
 * @throws WiretapeError before anything is recorded: `usage`, `unwritable`
 */
export async function recordHttp(options: HttpCaptureOptions): Promise<CaptureFiles> {
  const prepared = await prepareCapture(options)
  const ended = untilSignal()
  const readBuffers = createReadBuffers()
  let record: ((event: HttpEvent) => void) | undefined
  const { upstream, host, port, allowRemote, insecure, oauthRewrite } = options
  let proxy: HttpProxy | undefined
  const hold = (wait: boolean): void => proxy?.hold(wait)
  // The port first: a tape of a recorder that could not listen helps nobody.
  proxy = await startHttpProxy({
    upstream,
    host,
    port,
    allowRemote,
    insecure,
    oauthRewrite,
    onEvent(event) {
      record?.(event)
      if ('bytes' in event) readBuffers.passed(event.bytes.length)
    },
    onNotice: (line) => options.onNotice(line),
  }).catch((error: unknown) => {
    ended.cancel()
    throw error
  })
  proxy.hold(true)
  let capture: ReturnType<typeof prepared.start>
  try {
    capture = prepared.start({ transport: options.transport, command: [], url: upstream.href })
  } catch (error) {
    ended.cancel()
    await proxy.close()
    throw error
  }
  const recorder = capture.record(hold)
  record = (event) => recorder.http(event)
  capture.register()
  try {
    await recorder.ready
    proxy.hold(false)
    capture.live.connect({ url: proxy.url, stop: () => ended.end('SIGTERM') })
    await capture.live.listen()
    options.onListening(proxy.url)
    await ended.signal
    await proxy.close()
    return await capture.finish({ exitCode: 0 })
  } catch (cause) {
    if (cause instanceof WiretapeError) throw cause
    await proxy.close()
    throw cause
  } finally {
    capture.close()
    ended.cancel()
  }
}
