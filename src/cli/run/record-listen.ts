import { defaultLabel, recordListen } from '../../capture/index.js'
import { reasonNotFound } from '../../transports/index.js'
import { accessOf } from '../access.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { parseListen } from '../listen-option.js'
import type { RecordOptions } from '../record-flag.js'
import { createFront, printUrl } from './front.js'
import { captureOptions, conclude, reloadOf, unlessUnwritable } from './record.js'

/**
 * Records a stdio server for HTTP clients until a signal ends it. The only line on stdout is their URL. A missing program
 * is reported at once, as without HTTP.
 *
 * @param onScreen the terminal shows the capture, its user ends it
 */
export async function runRecordListen(
  command: readonly string[],
  options: RecordOptions,
  io: Io,
  onScreen = false,
): Promise<number> {
  const { host, port } = parseListen(options.listen)
  const capture = captureOptions(options, options.label ?? defaultLabel(command, io.cwd), io)
  // A client's first request would be too late.
  const missing = reasonNotFound(command)
  if (missing !== undefined) {
    await io.complain(missing, 'nothing was recorded')
    return exitCode.notStarted
  }
  const front = createFront(onScreen, io)
  return unlessUnwritable(io, async () => {
    const result = await recordListen({
      ...capture,
      ...reloadOf(options, io),
      command,
      shared: options.shared === true,
      host,
      port,
      allowRemote: options.allowRemote === true,
      access: accessOf(options.openToAllUsers, capture.label, port, io),
      onListening: (url, remoteUrl) => front.listening(() => printUrl(io, url, remoteUrl, adviceOf(options))),
      onNotice: (line) => front.notice(line),
      onTrouble: (line) => front.notice(line),
    })
    await front.over()
    await conclude(result, options, io)
    return exitCode.done
  })
}

/** Advice to people about the URL; none if quiet. */
function adviceOf({ quiet, shared }: RecordOptions): string[] {
  if (quiet) return []
  const each = shared ? 'all clients share one server process' : 'each session has its own server process'
  return [`recording; give clients the URL above, ${each}; end with Ctrl+C`]
}
