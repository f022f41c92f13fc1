import { resolve } from 'node:path'
import {
  ignoreRule,
  parseMatchRule,
  withFile,
  type CompareRule,
  type CompareSettings,
  type Level,
} from '../../compare/index.js'
import { QueryFault } from '../../json-path/index.js'
import { WiretapeError } from '../../model/index.js'
import { compareFilesOf, readCompareFile, readCompareFileOf } from '../../replay/index.js'
import type { Io } from '../io.js'
import type { CompareOptions } from './compare-options.js'

/**
 * Combines the command line with the file beside the recording.
 *
 * @param recording as the user named it
 * @throws WiretapeError `usage` for an invalid rule
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
  const varying = options.exact !== true
  return withFile(
    { level: options.level as Level | undefined, rules: [...ignored, ...matched], varying },
    file,
  )
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

/** All input files, rules included. @param recordings as the user named them, with their segments */
export function readFiles({ compareFile }: CompareOptions, recordings: readonly string[]): string[] {
  if (compareFile === false) return [...recordings]
  const rules = compareFile === undefined ? recordings.flatMap(compareFilesOf) : [compareFile]
  return [...recordings, ...rules]
}
