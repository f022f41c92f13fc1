import { resolve } from 'node:path'
import {
  ignoreRule,
  parseMatchRule,
  reportKinds,
  withFile,
  type CompareRule,
  type CompareSettings,
  type ComparisonReport,
  type Level,
} from '../../compare/index.js'
import { QueryFault } from '../../json-path/index.js'
import { WiretapeError } from '../../model/index.js'
import { compareFilesOf, readCompareFile, readCompareFileOf } from '../../replay/index.js'
import { checkReplaceable, replaceFile } from '../../tape/index.js'
import type { Io } from '../io.js'
import { refuseOwnInput, refuseTwice } from '../own-input.js'
import type { CompareOptions } from './compare-options.js'

/**
 * What the command line and the file beside the recording say together.
 *
 * @param recording as the user named it
 * @throws WiretapeError `usage` for a rule that makes no sense
 */
export async function settingsOf(
  options: CompareOptions,
  recording: string,
  io: Io,
): Promise<CompareSettings> {
  const file =
    typeof options.compareFile === 'string'
      ? await readCompareFile(resolve(io.cwd, options.compareFile))
      : recording === '-' || options.compareFile === false
        ? undefined
        : await readCompareFileOf(resolve(io.cwd, recording))
  const ignored = (options.ignore ?? []).map((path) => ruleOf('--ignore', path, () => ignoreRule(path)))
  const matched = (options.match ?? []).map((text) => ruleOf('--match', text, () => parseMatchRule(text)))
  return withFile({ level: options.level as Level | undefined, rules: [...ignored, ...matched] }, file)
}

function ruleOf(option: string, text: string, make: () => CompareRule): CompareRule {
  try {
    return make()
  } catch (problem) {
    if (!(problem instanceof QueryFault)) throw problem
    const column = problem.column === undefined ? '' : `, column ${problem.column}`
    const message = `${option} ${text}${column}: it ${problem.message}`
    throw new WiretapeError('usage', message, { hint: problem.advice })
  }
}

/** A report that was asked for. */
export interface WantedReport {
  readonly file: string
  readonly kind: string
  readonly write: (report: ComparisonReport) => Iterable<string>
}

/** What is read in all, rules too. @param recordings as the user named them, with their segments */
export function readFiles({ compareFile }: CompareOptions, recordings: readonly string[]): string[] {
  if (compareFile === false) return [...recordings]
  const rules = compareFile === undefined ? recordings.flatMap(compareFilesOf) : [compareFile]
  return [...recordings, ...rules]
}

/**
 * `junit=FILE`.
 *
 * @param read what no report may replace
 * @param output what else is written, and by which option
 * @throws WiretapeError before anything is compared: kind unknown, or the file cannot be written
 */
export async function wantedReports(
  options: CompareOptions,
  read: readonly string[],
  io: Io,
  output?: { readonly option: string; readonly file: string },
): Promise<WantedReport[]> {
  const wanted: WantedReport[] = []
  const written = output ? [output] : []
  for (const text of options.report ?? []) {
    const [kind = '', file = ''] = splitOnce(text, '=')
    const write = Object.hasOwn(reportKinds, kind) ? reportKinds[kind] : undefined
    if (!write) {
      throw new WiretapeError('usage', `unknown report kind ${JSON.stringify(kind)}`, {
        hint: `--report KIND=FILE; kinds are ${Object.keys(reportKinds).join(', ')}`,
      })
    }
    if (file === '') {
      throw new WiretapeError('usage', `--report ${kind} names no file`, { hint: `write ${kind}=FILE` })
    }
    refuseOwnInput(file, read, `--report ${kind}:`, io)
    if (file !== '-') await checkReplaceable(resolve(io.cwd, file))
    written.push({ option: `--report ${kind}=${file}`, file })
    wanted.push({ file, kind, write })
  }
  refuseTwice(written, io)
  return wanted
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)]
}

export async function writeReports(
  wanted: readonly WantedReport[],
  report: ComparisonReport,
  io: Io,
): Promise<void> {
  for (const { file, kind, write } of wanted) {
    if (file === '-') await printPieces(write(report), io, kind === 'github' ? 'commands' : 'data')
    else await replaceFile(resolve(io.cwd, file), bytesOf(write(report)))
  }
}

export async function printPieces(
  pieces: Iterable<string>,
  io: Io,
  kind: 'data' | 'commands' = 'data',
): Promise<void> {
  for (const piece of pieces) if (!(await io.write(piece, kind))) return
}

export async function* bytesOf(pieces: Iterable<string>): AsyncGenerator<Uint8Array, void, undefined> {
  let batch = ''
  for (const piece of pieces) {
    batch += piece
    if (batch.length < batchLength) continue
    yield Buffer.from(batch)
    batch = ''
  }
  yield Buffer.from(batch)
}

/** Characters that are collected before a write. */
const batchLength = 1 << 18
