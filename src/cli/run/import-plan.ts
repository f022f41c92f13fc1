import { statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { profiles, type Profile } from '../../formats/index.js'
import { WiretapeError } from '../../model/index.js'
import type { Io } from '../io.js'
import { outputName } from '../output.js'
import { refuseOwnInput, refuseTwice } from '../own-input.js'
import { recordingPath } from '../recording-name.js'

export interface ImportOptions {
  readonly format?: string
  readonly profile?: string
  readonly outTrace?: string
  readonly untimed?: string
  readonly init?: boolean
  readonly episodeId?: string
  readonly testId?: string
  readonly prompt?: string
}

/** One transcript and the output for its trace. */
export interface PlannedImport {
  readonly file: string
  /** `-` is stdout. */
  readonly output: string
}

/**
 * The output of each transcript's trace.
 *
 * @throws WiretapeError `usage` before anything is read
 */
export async function planImports(
  named: readonly string[],
  options: ImportOptions,
  io: Io,
): Promise<PlannedImport[]> {
  if (named.includes('') || options.outTrace === '') {
    throw new WiretapeError('usage', `${named.includes('') ? 'the input' : '--out-trace'} is empty`, {
      hint: '- is stdin and stdout',
    })
  }
  const files: string[] = []
  for (const name of named) files.push(await recordingPath(name, io))
  const { outTrace } = options
  const folder = outTrace !== undefined && outTrace !== '-' && isFolder(outTrace, io) ? outTrace : undefined
  if (files.length > 1) refuseForSeveral(files, folder, options)
  const plans = files.map((file) => ({
    file,
    output: folder === undefined ? outputName(outTrace ?? defaultOutput(file)) : inFolder(folder, file),
  }))
  for (const { output } of plans) refuseOwnInput(output, files, '--out-trace', io)
  refuseTwice(
    plans.map(({ file, output }) => ({ option: file, file: output })),
    io,
  )
  return plans
}

function refuseForSeveral(
  files: readonly string[],
  folder: string | undefined,
  { outTrace, episodeId }: ImportOptions,
): void {
  if (outTrace !== undefined && folder === undefined) {
    throw new WiretapeError('usage', `--out-trace ${outTrace} is not a folder`, {
      hint: 'each transcript becomes its own trace, because step ids are unique only within an episode',
    })
  }
  if (episodeId !== undefined) {
    throw new WiretapeError('usage', '--episode-id needs a single transcript', {
      hint: 'without it, each episode is named after its file',
    })
  }
  if (folder === undefined && files.includes('-')) {
    throw new WiretapeError('usage', 'several transcripts with stdin need --out-trace with a folder')
  }
}

function isFolder(name: string, { cwd }: Io): boolean {
  return statSync(resolve(cwd, name), { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** @throws WiretapeError `usage` */
export function profileOf(said: string | undefined): Profile {
  const profile = profiles.find((known) => known === (said ?? 'documented'))
  if (profile) return profile
  throw new WiretapeError('usage', `--profile ${said}: unknown profile`, {
    hint: `use one of ${profiles.join(', ')}`,
  })
}

/**
 * The time of a transcript without times, in milliseconds since the epoch. Importers use the clock; the
 * documented profile does so only on request, so that equal content gives equal bytes.
 *
 * @throws WiretapeError `usage`
 */
export function untimedMs(said: string | undefined, profile: Profile): number {
  if ((said ?? (profile === 'strict' ? 'now' : '0')) === 'now') return Date.now()
  const ms = said === undefined ? 0 : /^\d{1,15}$/.test(said) ? Number(said) : Date.parse(said)
  if (Number.isInteger(ms) && ms >= 0) return ms
  throw new WiretapeError('usage', `--untimed ${said}: not a time`, {
    hint: 'use now, milliseconds since 1970, or a time such as 2026-11-23T10:00:00Z',
  })
}

/** The importers' name of a file: no suffix of compression, no last extension. */
export function stemOf(file: string): string {
  if (file === '-') return 'stdin'
  const name = basename(file).replace(/\.(?:gz|zst)$/i, '')
  return name.slice(0, name.length - extname(name).length)
}

function defaultOutput(file: string): string {
  return file === '-' ? '-' : inFolder(dirname(file), file)
}

function inFolder(folder: string, file: string): string {
  return join(folder, `${stemOf(file)}.trace.jsonl`)
}
