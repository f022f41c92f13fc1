import { InvalidArgumentError, Option, type Command } from 'commander'
import { durationForms } from '../model/index.js'
import { addCompareOptions } from './compare/compare-options.js'
import { parseTimeout } from './duration-option.js'
import { optionOf } from './commands/option-of.js'

/** How long one answer may take, in milliseconds. */
export const timeoutOption = (): Option =>
  optionOf({
    long: '--timeout',
    value: 'time',
    help: `for one answer: ${durationForms}`,
    parse: parseTimeout,
  }).default(10_000, '10s')

/** What both ways to replay have. */
export function addReplayOptions(command: Command): Command {
  command
    .option(
      '--header <Name: value>',
      'with a URL: a header for every request; ${NAME} is from the environment; repeatable',
      collect,
    )
    .addOption(
      new Option('--transport <transport>', 'how a URL is spoken to (default: as recorded)').choices([
        'streamable-http',
        'sse',
      ]),
    )
    .option(
      '--set <JSONPath=value>',
      'a value for messages that have the place; ${NAME} is from the environment',
      collect,
    )
    .option('--strict-secrets', 'refuse, not leave out, messages whose redacted values nobody gives')
    .addOption(
      new Option('--unanswered <what>', "what the server's own requests get that the recording cannot answer")
        .choices(['error', 'empty', 'fail'])
        .default('error'),
    )
    .addOption(
      new Option('--concurrency <how>', 'one request at a time, or overlapping as recorded')
        .choices(['one', 'recorded'])
        .default('one'),
    )
    .addOption(
      new Option('--pace <pace>', 'fast, recorded, or <N>x as fast as recorded')
        .argParser(pace)
        .default(Infinity, 'fast'),
    )
    .option('--filter <filter>', 'only messages of the client that match')
    .option('--repeat <n>', 'so many runs', count, 1)
    .option('--parallel <n>', 'so many runs at a time', count, 1)
    .option(
      '--learn <n>',
      'run it so often, tell what varies by itself from what changed, and write that into the compare file',
      learned,
    )
    .option('--update', 'accept the new answers into the recording; the old file is kept as .bak')
    .option('--all', 'print what is the same too')
  return addCompareOptions(command)
}

function learned(text: string): number {
  const runs = count(text)
  if (runs < 2) throw new InvalidArgumentError('One run tells nothing: at least 2.')
  return runs
}

function pace(text: string): number {
  if (text === 'fast') return Infinity
  if (text === 'recorded') return 1
  const factor = /^(\d+(?:\.\d+)?)x$/.exec(text)
  const value = Number(factor?.[1])
  if (!(value > 0)) throw new InvalidArgumentError('It is fast, recorded, or a factor such as 2x.')
  return value
}

function count(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > 10_000)
    throw new InvalidArgumentError('It is a whole number from 1 to 10000.')
  return value
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}
