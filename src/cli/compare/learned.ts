import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { countOf, escapeText, truncate } from '../../render/index.js'
import { addRules, compareFilesOf, type Learned, type LearnedRule } from '../../replay/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import type { ReplayOptions } from '../run/replay-options.js'
import { exchangeLines, type Layout } from './print.js'

/** @throws WiretapeError `usage` for conflicting options */
export function refuseLearning(name: string, options: ReplayOptions): void {
  if (options.learn === undefined) return
  const other = options.update
    ? '--update'
    : options.json
      ? '--json'
      : options.repeat > 1 || options.parallel > 1
        ? '--repeat and --parallel'
        : undefined
  if (other !== undefined)
    throw new WiretapeError('usage', `--learn and ${other} cannot be combined`, {
      hint: `leave out ${other}`,
    })
  if (options.compareFile === false)
    throw new WiretapeError('usage', '--learn needs a compare file to write', {
      hint: 'leave out --no-compare-file',
    })
  if (name === '-' && options.compareFile === undefined)
    throw new WiretapeError('usage', '--learn with stdin needs a compare file to write', {
      hint: 'choose one with --compare-file',
    })
}

/** The file for learned rules: the one that was read, or a new one beside the recording. */
export function compareFileFor(name: string, { compareFile }: ReplayOptions, io: Io): string {
  if (typeof compareFile === 'string') return resolve(io.cwd, compareFile)
  const files = compareFilesOf(resolve(io.cwd, name))
  return files.find((file) => existsSync(file)) ?? files[1]!
}

const mostTold = 50

/** Writes the rules, prints them and what remains; returns the exit status. */
export async function tellLearned(
  { varies, changed, unsteady }: Learned,
  file: string,
  layout: Layout,
  show: (text: string) => void,
): Promise<number> {
  const { style } = layout
  if (varies.length > 0) {
    const added = await addRules(file, varies)
    show(`${style.bold('Varies between runs')}\n`)
    for (const rule of varies.slice(0, mostTold)) show(ruleLine(rule, layout))
    if (varies.length > mostTold) show(`  and ${varies.length - mostTold} more\n`)
    const known = varies.length - added
    const tail = known === 0 ? '' : `, ${known} already there`
    show(`${countOf(added, 'rule')} written to ${escapeText(basename(file))}${tail}\n`)
  }
  if (unsteady.length > 0) show(`${style.bold('Different between runs')}\n`)
  for (const exchange of unsteady.slice(0, mostTold)) show(exchangeLines(exchange, layout))
  if (changed.length > 0) show(`${style.bold('Changed')}\n`)
  for (const exchange of changed.slice(0, mostTold)) show(exchangeLines(exchange, layout))
  const left = changed.length + unsteady.length
  if (left === 0)
    show(varies.length === 0 ? 'Same in every run: nothing to learn\n' : 'Nothing else differs\n')
  return left === 0 ? exitCode.done : exitCode.found
}

function ruleLine(
  { method, name, path, matcher, example }: LearnedRule,
  { columns = Infinity }: Layout,
): string {
  const title = name === undefined ? method : `${method} ${name}`
  const [one, other] = example.map((text) => truncate(escapeText(text), 30))
  const line = `${escapeText(title)}  ${escapeText(path)}  ${matcher ?? 'ignored'}  ${one} ≠ ${other}`
  return `  ${truncate(line, columns - 2)}\n`
}
