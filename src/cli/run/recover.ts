import { resolve } from 'node:path'
import { registryFolderIn } from '../../capture/index.js'
import { liveCaptures } from '../../control/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf, escapeText } from '../../render/index.js'
import { checkReplaceable, recoverTape, summarizeTape } from '../../tape/index.js'
import { placeOf } from '../diagnostics.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { isLive } from '../live.js'
import { inFile, openNamed } from '../named-file.js'
import { recordingPath } from '../recording-name.js'
import { outputName, refuseExisting } from '../output.js'
import { printBytes } from '../transfer.js'
import { recoverSession } from './recover-session.js'

export interface RecoverOptions {
  readonly inPlace?: boolean
  readonly force?: boolean
  readonly sessionFile?: string
  readonly compact?: boolean
}

export async function runRecover(
  input: string,
  output: string | undefined,
  options: RecoverOptions,
  io: Io,
): Promise<number> {
  if (options.inPlace && output !== undefined) {
    throw new WiretapeError('usage', '--in-place and an output cannot be combined')
  }
  const file = await recordingPath(input, io)
  if (file === '-') {
    throw new WiretapeError('usage', 'recover cannot read stdin', { hint: 'save the tape to a file first' })
  }
  if (options.compact && options.sessionFile === undefined)
    throw new WiretapeError('usage', '--compact needs --session-file')
  const path = resolve(io.cwd, file)
  if (options.sessionFile !== undefined) {
    if (options.inPlace || output !== undefined) {
      throw new WiretapeError('usage', '--session-file and another output cannot be combined')
    }
    if (await isBeingRecorded(path, io)) throw stillRecorded(file)
    return recoverSession(file, options.sessionFile, io, options.compact)
  }
  const beside = `${file.replace(/\.jsonl$/, '')}.recovered.jsonl`
  const named = options.inPlace ? file : outputName(output ?? beside)
  const target = resolve(io.cwd, named)
  const { file: recording } = await openNamed(path, file)
  if (await isBeingRecorded(path, io)) throw stillRecorded(file)
  const toStdout = named === '-'
  if (!toStdout) {
    if (!options.inPlace) await refuseExisting(named, io.cwd, options.force)
    await checkReplaceable(target)
  }
  const print = (copy: AsyncIterable<Uint8Array>): Promise<void> => printBytes(copy, io)
  const report = await recoverTape(recording, target, toStdout ? print : undefined).catch(
    (error: unknown) => {
      throw inFile(error, file, path)
    },
  )
  for (const fault of report.faults) await io.complain(`${file}${placeOf(fault)}: ${fault.message}`)
  if (toStdout) return exitCode.done
  const counted = countOf(report.messages, 'message')
  await io.write(
    report.written === undefined
      ? `${escapeText(file)} is complete: ${counted}, nothing to recover\n`
      : `${escapeText(named)}: ${counted}, closed\n`,
  )
  return exitCode.done
}

function stillRecorded(file: string): WiretapeError {
  return new WiretapeError('usage', `${file} is still being recorded`, { hint: 'end the capture first' })
}

async function isBeingRecorded(path: string, io: Io): Promise<boolean> {
  const captures = await liveCaptures(registryFolderIn(io.dataFolder))
  const tape = captures.length > 0 ? await summarizeTape(path).catch(() => undefined) : undefined
  return tape !== undefined && isLive(tape, captures)
}
