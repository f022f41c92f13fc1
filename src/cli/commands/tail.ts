import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { TailOptions } from '../run/tail.js'

export function registerTail(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('tail')
    .summary('follow a live capture')
    .description(
      'Prints what a running capture has recorded and goes on as it records, one line a message, until it ends. ' +
        'A slow reader never slows the capture.',
    )
    .argument(
      '[id]',
      'the start of its session id, its label or its pid (default: the only one that is live)',
    )
    .option('--filter <filter>', 'only what this filter matches')
    .option('--new', 'only what comes from now on')
    .option('--json', "the tape's own lines")
    .addHelpText(
      'after',
      `
Examples:
  wiretape tail
  wiretape tail files --filter 'method:tools/call -is:notification'
  wiretape tail --new --json | jq .raw`,
    )
    .action(async (id: string | undefined, options: TailOptions) => {
      const { runTail } = await import('../run/tail.js')
      outcome.code = await runTail(id, options, io)
    })
}
