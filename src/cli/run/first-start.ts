import { resolve } from 'node:path'
import { registryFolderIn, ServerStart } from '../../capture/index.js'
import { canBegin } from '../../tape/index.js'
import { dataFolder, recordingsIn } from '../data-folder.js'
import type { SearchFolders } from '../io.js'
import { noteLaunch } from '../launched.js'
import type { RecordOptions } from '../record-flag.js'
import { parseRecordArgs, type RecordArgs } from '../record-options.js'

/** The arguments of `record`, and the server, from before the rest of the program is loaded. */
export interface FirstStart {
  readonly recording: RecordArgs
  /** The server's process, unless something might keep it from being recorded. */
  readonly server?: ServerStart
}

/** Options that a recording cannot fail for. A server with others starts once they are checked. */
const plain: ReadonlySet<string> = new Set<keyof RecordOptions>([
  'out',
  'label',
  'target',
  'note',
  'meta',
  'maxBytes',
  'sealAfter',
  'keep',
  'strictV1',
  'redactDefaults',
  'redactReport',
  'oauthRewrite',
  'quiet',
])

/**
 * Starts the server of a plain `record` command line: a server needs as long to start as the recorder, and its client
 * is waiting. Undefined unless the arguments are clearly valid.
 *
 * @param args those of `record`
 */
export function startFirst(args: readonly string[]): FirstStart | undefined {
  noteLaunch()
  const recording = parseRecordArgs(args)
  if (!recording) return undefined
  const { command, options } = recording
  const isPlain = options.oauthRewrite !== false && Object.keys(options).every((key) => plain.has(key))
  if (!isPlain || command[0] === '') return { recording }
  try {
    const data = dataFolder(process.env)
    if (!canBegin(tapesFolder(options.out, { cwd: process.cwd(), dataFolder: data }))) return { recording }
    const server = new ServerStart()
    void server.start({ command, registryFolder: registryFolderIn(data) })
    return { recording, server }
  } catch {
    // There is no working folder, or no home. It is reported when it is needed.
    return { recording }
  }
}

/** Folder for tapes: the named one, else the recordings in the data folder. */
export function tapesFolder(out: string | undefined, { cwd, dataFolder: data }: SearchFolders): string {
  return out === undefined ? recordingsIn(data) : resolve(cwd, out)
}
