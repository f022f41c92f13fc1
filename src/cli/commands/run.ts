import type { Command } from 'commander'
import { splitAtDashes } from '../dashes.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { RunCallsOptions } from '../run/run-calls.js'
import { collect, headerOption, responseTimeout } from './server-options.js'

export function registerRun(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('run')
    .summary('run saved calls and check their responses')
    .description(
      'Runs the calls in YAML files and checks the responses (docs/saved-calls.md). Exits 0 if every ' +
        'response is as expected, 1 if one is not, 2 if the calls were not possible.',
    )
    .argument('<path...>', 'files of saved calls, or folders of them (.yaml, .yml)')
    .usage('[options] <path...> [-- <command...>]')
    .option('--var <name=value>', "set a variable, overriding the file's; JSON or text; repeatable", collect)
    .option('--url <url>', 'an HTTP server, instead of the servers in the files')
    .addOption(headerOption())
    .option('--record <dir>', 'record the session with each server into this folder')
    .addOption(responseTimeout())
    .option('--all', 'print passed calls too')
    .option(
      '--report <kind=file>',
      'also write a report: junit, json, markdown or github; repeatable',
      collect,
    )
    .option('--json', 'print JSON')
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
