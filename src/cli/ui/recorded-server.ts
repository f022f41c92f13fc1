import { randomUUID } from 'node:crypto'
import { joinCommandLine, WiretapeError } from '../../model/index.js'
import { connectTo, openServer } from '../../replay/index.js'
import { isOrigin, listTapes, summarizeTape } from '../../tape/index.js'
import type { RecordedServer, UiRecorder } from '../../ui-server/index.js'
import { recordingsIn } from '../data-folder.js'
import type { Io } from '../io.js'
import { originKeyIn } from '../keys.js'
import { recordedTarget } from '../recorded-target.js'
import { checkedHeaders, recorded } from '../saved/saved-servers.js'

/** A person's requests may wait for that person. */
const timeoutMs = 3_600_000
/** Long enough for npx to fetch a package first. */
const greetingMs = 60_000

/** How the server of a recording is reached, or why it must not be run. @param path of its first file */
export async function recordedServer(path: string, io: Io): Promise<RecordedServer> {
  const tape = await summarizeTape(path).catch(() => undefined)
  const about = tape?.meta.wiretape
  if (!tape || !about) return { shown: '', why: 'the file does not contain the command or URL of its server' }
  const { command } = tape.meta
  const { url, session, origin } = about
  const shown = url ?? joinCommandLine(command)
  const key = originKeyIn(io.dataFolder)
  if (key === undefined || !isOrigin(key, { session, command, url }, origin))
    return { shown, why: 'wiretape cannot verify that you recorded this on this machine' }
  try {
    const target = recordedTarget({ command, url }, [], path)
    const place = { folder: io.cwd, environment: Object.keys(process.env).toSorted() }
    return { shown, ...target, ...('command' in target && place) }
  } catch (problem) {
    if (!(problem instanceof WiretapeError)) throw problem
    return { shown, why: problem.message }
  }
}

/**
 * A recorder in front of a server, which records into the data folder.
 *
 * @param headers for a URL
 * @param idOf listed id of a recording, from the path of its file
 */
export function createRecorder(
  { command, url }: RecordedServer,
  headers: readonly (readonly [name: string, value: string])[],
  idOf: (path: string) => string,
  io: Io,
): UiRecorder {
  const folder = recordingsIn(io.dataFolder)
  const mark = randomUUID().slice(0, 8)
  const server = command === undefined ? { url: url!, headers: checkedHeaders(headers) } : { command }
  const target = recorded(server, folder, undefined, ['--meta', `ui=${mark}`])
  return {
    // Requests end with the server, and sessions with their page.
    open: (role) =>
      openServer(connectTo(target), {
        timeoutMs,
        greetingMs,
        signal: new AbortController().signal,
        role,
      }),
    async recording() {
      const tapes = await listTapes(folder)
      const made = tapes.findLast(({ meta }) =>
        meta.wiretape?.metadata?.some(([key, text]) => key === 'ui' && text === JSON.stringify(mark)),
      )
      if (!made) throw new WiretapeError('unreadable', 'the recording of the session is missing')
      return idOf(made.path)
    },
  }
}
