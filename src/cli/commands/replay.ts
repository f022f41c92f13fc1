import type { Command } from 'commander'
import { matchersHelp } from '../compare/compare-options.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import { addReplayOptions, timeoutOption } from '../replay-options.js'
import type { ReplayOptions } from '../run/replay-options.js'

export function registerReplay(program: Command, io: Io, outcome: Outcome): void {
  const command = program
    .command('replay')
    .summary('ask a live server again')
    .description(
      'Acts as the recorded client: sends what it sent, with the values of this run where the recording gives one back, ' +
        "answers the server's own requests as it did, and compares the answers. Exits 0 when nothing differs, 1 when " +
        'something does, 2 when it could not be tried.',
    )
    .argument('<file>', 'a recording of any format; - reads stdin')
    .argument('[command...]', 'after --, the server to start')
    .usage('[options] <file> -- <command...>')
    .option('--url <url>', 'the URL of a server that runs')
    .option('--output <file>', 'write what was sent and answered to this result file')
    .addOption(timeoutOption())
    .option('--no-handshake', 'do not make a handshake where the recording has none')
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
