import type { Command } from 'commander'
import { matchersHelp } from '../compare/compare-options.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import { addReplayOptions, timeoutOption } from '../replay-options.js'
import type { ReplayOptions } from '../run/replay-options.js'

export function registerReplay(program: Command, io: Io, outcome: Outcome): void {
  const command = program
    .command('replay')
    .summary('re-run a recording against a live server and compare')
    .description(
      "Acts as the recorded client: sends its messages, with this run's ids and handles in place of recorded ones, " +
        "answers the server's own requests as it did, and compares the responses. Exits 0 if nothing differs, 1 if " +
        'something does, 2 if the run was not possible.',
    )
    .argument('<file>', 'a recording of any format; - reads stdin')
    .argument('[command...]', 'after --, the server to start')
    .usage('[options] <file> -- <command...>')
    .option('--url <url>', 'the URL of a running server')
    .option('--output <file>', 'write all requests and responses to this result file')
    .addOption(timeoutOption())
    .option('--no-handshake', 'do not add a handshake if the recording has none')
  addReplayOptions(command)
    .addHelpText(
      'after',
      `${matchersHelp}

Examples:
  wiretape replay baseline.jsonl -- node server.js
  wiretape replay baseline.jsonl --url http://127.0.0.1:3000/mcp
  wiretape replay a.jsonl --set '$.params.arguments.key=\${KEY}' -- node server.js`,
    )
    .action(async (recording: string, words: string[], options: ReplayOptions) => {
      const { runReplayCommand } = await import('../run/replay.js')
      outcome.code = await runReplayCommand(recording, words, options, io)
    })
}
