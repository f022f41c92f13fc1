import type { Command } from 'commander'
import { durationForms } from '../../model/index.js'
import { splitAtDashes } from '../dashes.js'
import { parseTimeout } from '../duration-option.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { RunCallsOptions } from '../run/run-calls.js'
import { optionOf } from './option-of.js'

const usualTimeoutMs = 60_000

export function registerRun(program: Command, io: Io, outcome: Outcome): void {
  const collect = (value: string, all: readonly string[] = []): string[] => [...all, value]
  program
    .command('run')
    .summary('make saved calls and check their answers')
    .description(
      'Makes the calls that stand in YAML files, and checks what is answered (docs/saved-calls.md). Exits 0 when every ' +
        'answer is the expected one, 1 when one is not, 2 when the calls could not be made.',
    )
    .argument('<path...>', 'files of saved calls, or folders of them (.yaml, .yml)')
    .usage('[options] <path...> [-- <command...>]')
    .option('--var <name=value>', 'a variable, before that of the file; JSON or text; repeatable', collect)
    .option('--url <url>', 'an HTTP server, instead of those that the files name')
    .option(
      '--header <Name: value>',
      'with --url: a header for every request; ${NAME} is from the environment; repeatable',
      collect,
    )
    .option('--record <dir>', 'record the session with each server into this folder')
    .addOption(
      optionOf({
        long: '--timeout',
        value: 'time',
        help: `for each answer: ${durationForms}`,
        parse: parseTimeout,
      }).default(usualTimeoutMs, '60s'),
    )
    .option('--all', 'print the calls that were answered as expected too')
    .option(
      '--report <kind=file>',
      'also write a report: junit, json, markdown or github; repeatable',
      collect,
    )
    .option('--json', 'machine output')
    .addHelpText(
      'after',
      `
Examples:
  wiretape run calls
  wiretape run calls/search.yaml --var query=tea --all
  wiretape run calls --report junit=calls.xml --record tapes
  wiretape run calls -- node new-server.js`,
    )
    .action(async (words: string[], options: RunCallsOptions) => {
      const { runCalls } = await import('../run/run-calls.js')
      const { before, command } = splitAtDashes(words, program)
      outcome.code = await runCalls(before, command, options, io)
    })
}
