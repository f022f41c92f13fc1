import type { Command } from 'commander'
import { splitAtDashes } from '../dashes.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { CallOptions } from '../run/call.js'
import { collect, headerOption, responseTimeout } from './server-options.js'

export function registerCall(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('call')
    .summary('call one tool and record the call')
    .description(
      'Calls one tool of a server, records the call and prints its result. With --from, sends a recorded request again.',
    )
    .argument(
      '[words...]',
      "the tool and its arguments as JSON; with --from, the request's number in inspect",
    )
    .usage('[options] <tool> [<json>] [-- <command...>]')
    .option('--server <name>', 'a server of one of your MCP clients')
    .option('--url <url>', 'an HTTP server')
    .addOption(headerOption())
    .option(
      '--from <recording>',
      'send a request of this recording again, to its server or to the one that you name',
    )
    .option(
      '--set <JSONPath=value>',
      'with --from: replace a value in the request; ${NAME} comes from the environment; repeatable',
      collect,
    )
    .option('-y, --yes', 'with --from: start the recorded server without asking')
    .option('-o, --out <dir>', 'folder for the tape (default: the recordings in your data folder)')
    .option('--save <file>', 'add the call and its response to a file of saved calls (wiretape run)')
    .addOption(responseTimeout())
    .option('--json', 'print the whole response as JSON')
    .addHelpText(
      'after',
      `
Exits 1 when the tool reports a failure or the server returns an error.

Examples:
  wiretape call echo '{"message":"hi"}' -- node server.js
  wiretape call --server github search_issues '{"query":"is:open"}'
  wiretape call price '{"item":"tea"}' --save calls/shop.yaml -- node shop.js
  wiretape call --from latest 12 --set '$.params.arguments.query="tea"'`,
    )
    .action(async (words: string[], options: CallOptions) => {
      const { runCall } = await import('../run/call.js')
      const { before, command } = splitAtDashes(words, program)
      outcome.code = await runCall(before, command, options, io)
    })
}
