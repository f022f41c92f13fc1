import { startHttpBridge, type HttpBridge } from '../link/index.js'
import { openOwnStdio } from '../transports/index.js'
import { startHttpCapture, type HttpCapture, type HttpProxyCaptureOptions } from './record-http.js'
import type { CaptureFiles } from './capture-options.js'
import { untilSignal } from './signals.js'

/** A remote server, for the stdio client that started us. */
export interface BridgeCaptureOptions extends Omit<
  HttpProxyCaptureOptions,
  | 'host'
  | 'port'
  | 'allowRemote'
  | 'access'
  | 'upstreamPrefix'
  | 'oauthRewrite'
  | 'target'
  | 'transport'
  | 'stop'
> {
  /** Sent with every request. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** How it ended. */
export interface BridgeResult extends CaptureFiles {
  /** 0 when the client ended it, else 128 + the number of the signal that did. */
  readonly exitCode: number
}

const signalNumber: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }

/**
 * Speaks stdio to whoever started us and HTTP to a server, through a proxy of our own that records it.
 *
 * @throws WiretapeError before anything is recorded: `usage`, `unwritable`
 */
export async function recordBridge(options: BridgeCaptureOptions): Promise<BridgeResult> {
  const ended = untilSignal()
  let capture: HttpCapture | undefined
  let bridge: HttpBridge | undefined
  try {
    // Our streams first: they take descriptors and put others in their place, which no thread may see.
    const client = openOwnStdio()
    capture = await startHttpCapture({
      ...options,
      stop: () => ended.end('SIGTERM'),
      transport: 'streamable-http',
      host: '127.0.0.1',
      port: 0,
      allowRemote: false,
      // Its clients are we ourselves: without a login of their own, and with a secret for this run where one is needed.
      access: {},
      // The URL is ours to both sides; nobody here looks at metadata.
      oauthRewrite: false,
    })
    bridge = await startHttpBridge({
      url: new URL(capture.url),
      upstream: options.upstream,
      headers: options.headers,
      input: client.input,
      output: client.output,
      onNotice: (line) => options.onNotice(line),
    })
    const signal = await Promise.race([bridge.finished, ended.signal])
    bridge.end('the recorder was stopped')
    await bridge.finished
    await client.closeOutput()
    client.closeInput()
    const files = await capture.finish({ exitCode: 0 })
    return { ...files, exitCode: signal === undefined ? 0 : 128 + (signalNumber[signal] ?? 0) }
  } finally {
    bridge?.end()
    await capture?.close()
    ended.cancel()
  }
}
