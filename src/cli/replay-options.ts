import { InvalidArgumentError, Option, type Command } from 'commander'
import { durationForms } from '../model/index.js'
import { addCompareOptions } from './compare/compare-options.js'
import { parseTimeout } from './duration-option.js'
import { optionOf } from './commands/option-of.js'

/** Deadline of a response in milliseconds. */
export const timeoutOption = (): Option =>
  optionOf({
    long: '--timeout',
    value: 'time',
    help: `timeout of each response: ${durationForms}`,
    parse: parseTimeout,
  }).default(10_000, '10s')

/** Options of both replay commands. */
export function addReplayOptions(command: Command): Command {
  command
    .option(
      '--header <name: value>',
      'with a URL: send this header with every request; ${NAME} comes from the environment; repeatable',
      collect,
    )
    .addOption(
      new Option('--transport <transport>', 'transport of the URL (default: the recorded one)').choices([
        'streamable-http',
        'sse',
      ]),
    )
    .option(
      '--set <JSONPath=value>',
      'replace the value at a path in all messages that have it; ${NAME} comes from the environment',
      collect,
    )
    .option(
      '--strict-secrets',
      'refuse to run if a redacted value is missing, instead of skipping the message',
    )
    .addOption(
      new Option('--unanswered <what>', 'how to answer server requests that the recording does not cover')
        .choices(['error', 'empty', 'fail'])
        .default('error'),
    )
    .addOption(
      new Option('--concurrency <how>', 'send one request at a time, or overlapping as recorded')
        .choices(['one', 'recorded'])
        .default('one'),
    )
    .addOption(
      new Option('--pace <pace>', 'fast, recorded, or <N>x as fast as recorded')
        .argParser(pace)
        .default(Infinity, 'fast'),
    )
    .option('--filter <filter>', 'send only client messages that match')
    .option('--repeat <n>', 'number of runs', count, 1)
    .option('--parallel <n>', 'number of parallel runs', count, 1)
    .option(
      '--learn <n>',
      'run this many times, find values that vary between runs, and write them to the compare file',
      learned,
    )
    .option('--update', 'accept the new responses into the recording; the old file is kept as .bak')
    .option('--all', 'print matches too')
  return addCompareOptions(command)
}

function learned(text: string): number {
  const runs = count(text)
  if (runs < 2) throw new InvalidArgumentError('Use 2 or more.')
  return runs
}

function pace(text: string): number {
  if (text === 'fast') return Infinity
  if (text === 'recorded') return 1
  const factor = /^(\d+(?:\.\d+)?)x$/.exec(text)
  const value = Number(factor?.[1])
  if (!(value > 0)) throw new InvalidArgumentError('Use fast, recorded, or a factor such as 2x.')
  return value
}

function count(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > 10_000)
    throw new InvalidArgumentError('Use a whole number from 1 to 10000.')
  return value
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}
