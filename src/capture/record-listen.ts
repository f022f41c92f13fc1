import fs from 'node:fs'
import { startStdioBridge, type StdioBridge } from '../link/index.js'
import type { Reloads, ReloadSettings } from './reload.js'
import { startHttpCapture, type HttpCapture, type HttpCaptureOptions } from './record-http.js'
import type { CaptureFiles } from './capture-options.js'
import { untilSignal } from './signals.js'

/** Time for clients to read the last messages of servers. */
const lastWordsMs = 1_000

/** A stdio server, for clients that speak HTTP. */
export interface ListenCaptureOptions extends Omit<
  HttpCaptureOptions,
  'upstream' | 'upstreamPrefix' | 'transport' | 'insecure' | 'oauthRewrite' | 'target'
> {
  /** The server's argv. */
  readonly command: readonly string[]
  /** One process for all clients. */
  readonly shared: boolean
  /** Allows its processes to be replaced while clients are connected. */
  readonly reload?: ReloadSettings
}

/**
 * Serves a stdio server to HTTP clients at a URL, through our own recording proxy, until SIGINT, SIGTERM or SIGHUP.
 *
 * @throws WiretapeError before anything is recorded: `usage`, `unwritable`
 */
export async function recordListen(options: ListenCaptureOptions): Promise<CaptureFiles> {
  const { command, shared } = options
  const ended = untilSignal()
  let bridge: StdioBridge | undefined
  let capture: HttpCapture | undefined
  const reloads = options.reload && (await reloadsOf(options.reload, options, () => capture?.recorder))
  try {
    bridge = await startStdioBridge({
      command,
      shared,
      ...(reloads && { start: (argv, how) => reloads.start(argv, how) }),
      onErrors(chunk) {
        capture?.recorder.bytes('err', chunk)
        passOn(chunk)
      },
      onUnheard: (session, text) =>
        capture?.recorder.http({
          kind: 'unheard',
          session,
          bytes: Buffer.from(text),
          atMs: performance.now(),
          wallMs: Date.now(),
        }),
      onStray: (line) => capture?.recorder.bytes('out', line),
      onNotice: (line) => options.onNotice(line),
    })
    capture = await startHttpCapture({
      ...options,
      stop: () => ended.end('SIGTERM'),
      upstream: bridge.url,
      upstreamPrefix: bridge.prefix,
      transport: 'streamable-http',
      target: { transport: 'stdio', wire: 'http', command, url: null },
      insecure: false,
      oauthRewrite: false,
      ...(reloads && { reloadServers: () => reloads.reload() }),
    })
    void reloads?.watch()
    options.onListening(capture.url, capture.remoteUrl)
    await ended.signal
    // Servers may send last messages while clients and the recorder still receive them.
    await bridge.endServers()
    await capture.settled(lastWordsMs)
    await bridge.close()
    return await capture.finish({ exitCode: 0 })
  } finally {
    reloads?.close()
    await bridge?.close()
    await capture?.close()
    ended.cancel()
  }
}

/** Loaded only if requested. */
async function reloadsOf(
  settings: ReloadSettings,
  { onNotice }: Pick<ListenCaptureOptions, 'onNotice'>,
  recorder: () => HttpCapture['recorder'] | undefined,
): Promise<Reloads> {
  const { Reloads } = await import('./reload.js')
  return new Reloads(settings, {
    note: (text, restart) => recorder()?.enter({ kind: 'note', text, ...(restart && { restart }) }),
    notice: onNotice,
  })
}

/** A log that cannot be written must not end the server. */
function passOn(chunk: Buffer): void {
  try {
    fs.writeSync(2, chunk)
  } catch {
    // Stderr has no reader, or none now; the chunk is on the tape.
  }
}
