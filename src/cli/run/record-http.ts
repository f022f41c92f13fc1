import { recordHttp } from '../../capture/index.js'
import { accessOf } from '../access.js'
import { exitCode } from '../exit-codes.js'
import { parseHttpUrl } from '../http-url-option.js'
import type { Io } from '../io.js'
import { parseListen } from '../listen-option.js'
import type { RecordOptions } from '../record-flag.js'
import { createFront, printUrl } from './front.js'
import { captureOptions, conclude, unlessUnwritable } from './record.js'

/**
 * Records an HTTP server until a signal ends it. The only line on stdout is the URL for clients.
 *
 * @param onScreen the terminal shows the capture, its user ends it
 */
export async function runRecordHttp(
  url: string,
  transport: 'streamable-http' | 'sse',
  options: RecordOptions,
  io: Io,
  onScreen = false,
): Promise<number> {
  const upstream = parseHttpUrl(url, '--url')
  const { host, port } = parseListen(options.listen)
  const capture = captureOptions(options, options.label ?? upstream.hostname, io)
  // A key in the query is added to clients' requests; clients need not know it.
  const access =
    upstream.search === '' ? undefined : accessOf(options.openToAllUsers, capture.label, port, io)
  const front = createFront(onScreen, io)
  return unlessUnwritable(io, async () => {
    const result = await recordHttp({
      ...capture,
      upstream,
      transport,
      host,
      port,
      allowRemote: options.allowRemote === true,
      ...(access && { access }),
      insecure: options.insecure === true,
      oauthRewrite: options.oauthRewrite !== false,
      onListening: (own, remoteUrl) =>
        front.listening(() => printUrl(io, own, remoteUrl, adviceOf(upstream, options))),
      onNotice: (line) => front.notice(line),
      onTrouble: (line) => front.notice(line),
    })
    await front.over()
    await conclude(result, options, io)
    return exitCode.done
  })
}

/** Advice to people about the URL; none if quiet. */
function adviceOf(upstream: URL, { quiet, insecure }: RecordOptions): string[] {
  if (quiet) return []
  const about = `recording ${upstream.origin}${upstream.pathname}; give clients the URL above, end with Ctrl+C`
  return insecure ? [about, `certificates of ${upstream.host} are not checked (--insecure)`] : [about]
}
