import { resolve } from 'node:path'
import { defaultLabel, recordStdio, registryFolderIn, type CaptureResult } from '../../capture/index.js'
import { WiretapeError, type JsonMembers } from '../../model/index.js'
import { countOf } from '../../render/index.js'
import { hasAudience, recordingsIn, type Io } from '../io.js'
import { readVersion } from '../version.js'

export interface RecordOptions {
  readonly out?: string
  readonly label?: string
  readonly target?: string
  readonly note?: string
  readonly meta?: readonly (readonly [string, string])[]
  readonly maxBytes?: number
  readonly maxFiles?: number
  readonly strictV1?: boolean
  readonly quiet?: boolean
}

/** Returns what to exit with. */
export async function runRecord(command: readonly string[], options: RecordOptions, io: Io): Promise<number> {
  if (options.maxFiles !== undefined && options.maxBytes === undefined) {
    throw new WiretapeError('usage', '--max-files needs --max-bytes', {
      hint: 'it limits how many files of that size are kept',
    })
  }
  if (command[0] === '') throw new WiretapeError('usage', 'the server command is empty')
  const result = await recordStdio({
    command,
    folder: options.out === undefined ? recordingsIn(io.dataFolder) : resolve(io.cwd, options.out),
    registryFolder: registryFolderIn(io.dataFolder),
    label: options.label ?? defaultLabel(command, io.cwd),
    metadata: metadataOf(options),
    strict: options.strictV1 === true,
    ...(options.maxBytes !== undefined && { maxBytes: options.maxBytes }),
    ...(options.maxFiles !== undefined && { maxFiles: options.maxFiles }),
    version: readVersion(),
  })
  conclude(result, options, io)
  return result.exitCode
}

/** The names are those of the session file's metadata. */
function metadataOf(options: RecordOptions): JsonMembers {
  const pairs: [string, string][] = []
  if (options.target !== undefined) pairs.push(['target', options.target])
  if (options.note !== undefined) pairs.push(['notes', options.note])
  for (const [key, value] of options.meta ?? []) pairs.push([key, value])
  return pairs.map(([key, value]) => [key, JSON.stringify(value)] as const)
}

/** While recording, stderr is the server's: one line at the end, when there is trouble or somebody to read it. */
function conclude(result: CaptureResult, options: RecordOptions, io: Io): void {
  const { tape } = result
  const path = tape.paths.at(-1) ?? 'no file'
  if (result.notStarted !== undefined) {
    io.complain(result.notStarted, `nothing was recorded; ${path} says so`)
  } else if (tape.trouble !== undefined || tape.lost > 0) {
    const lost =
      tape.lost > 0 ? `${countOf(tape.lost, 'message')} passed unrecorded` : 'the tape is incomplete'
    io.complain(`${lost}: ${tape.trouble ?? 'see the gaps on the tape'}`, path)
  } else if (hasAudience() && options.quiet !== true) {
    io.complain(`recorded ${countOf(tape.messages, 'message')} to ${path}`)
  }
}
