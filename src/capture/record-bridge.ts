import { startHttpBridge, type HttpBridge } from '../link/index.js'
import { openOwnStdio } from '../transports/index.js'
import { startHttpCapture, type HttpCapture, type HttpProxyCaptureOptions } from './record-http.js'
import type { CaptureFiles } from './capture-options.js'
import { untilSignal } from './signals.js'

/** A remote server, for the stdio client that started this process. */
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

/** How the bridge ended. */
export interface BridgeResult extends CaptureFiles {
  /** 0 when the client ended it, else 128 + the number of the signal. */
  readonly exitCode: number
}

const signalNumber: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }

/**
 * Speaks stdio to the parent process and HTTP to a server, through our own recording proxy.
 *
 * @throws WiretapeError before anything is recorded: `usage`, `unwritable`
 */
export async function recordBridge(options: BridgeCaptureOptions): Promise<BridgeResult> {
  const ended = untilSignal()
  let capture: HttpCapture | undefined
  let bridge: HttpBridge | undefined
  try {
    // Our streams first: they take over descriptors and replace them, which no thread may see.
    const client = openOwnStdio()
    capture = await startHttpCapture({
      ...options,
      stop: () => ended.end('SIGTERM'),
      transport: 'streamable-http',
      host: '127.0.0.1',
      port: 0,
      allowRemote: false,
      // The proxy's only client is this process: without a login of its own, and with a secret for this run if needed.
      access: {},
      // Both sides use our URL; no client here reads metadata.
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
