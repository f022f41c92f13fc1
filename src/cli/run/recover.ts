import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { liveCaptures } from '../../control/index.js'
import { registryFolderIn } from '../../capture/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf } from '../../render/index.js'
import { openRecording, recoverTape } from '../../tape/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { placeOf } from '../diagnostics.js'

export interface RecoverOptions {
  readonly inPlace?: boolean
  readonly force?: boolean
}

export async function runRecover(
  file: string,
  output: string | undefined,
  options: RecoverOptions,
  io: Io,
): Promise<number> {
  if (options.inPlace && output !== undefined) {
    throw new WiretapeError('usage', '--in-place and an output exclude each other')
  }
  const path = resolve(io.cwd, file)
  const target = options.inPlace
    ? path
    : resolve(io.cwd, output ?? `${file.replace(/\.jsonl$/, '')}.recovered.jsonl`)
  if (!options.inPlace && !options.force && (await exists(target))) {
    throw new WiretapeError('usage', `${target} exists`, {
      hint: 'name another output, or --force replaces it',
    })
  }
  const live = await liveCaptures(registryFolderIn(io.dataFolder))
  if (live.some((capture) => capture.tape === path)) {
    throw new WiretapeError('usage', `${file} is still being recorded`, { hint: 'end the capture first' })
  }
  const report = await recoverTape(await openRecording(path), target)
  for (const fault of report.faults) io.complain(`${file}${placeOf(fault)}: ${fault.message}`)
  await io.write(
    report.written === undefined
      ? `${file} is whole: ${countOf(report.messages, 'message')}, nothing to recover\n`
      : `${report.written}: ${countOf(report.messages, 'message')}\n`,
  )
  return exitCode.done
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
