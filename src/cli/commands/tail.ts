import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { TailOptions } from '../run/tail.js'

export function registerTail(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('tail')
    .summary('follow a live capture')
    .description(
      'Prints the messages of a live capture, one line per message, and follows it until it ends. ' +
        'A slow reader does not slow the capture.',
    )
    .argument('[id]', 'label, pid or start of the session id of the capture (default: the only live capture)')
    .option('--filter <filter>', 'only messages that match this filter')
    .option('--new', 'only new messages')
    .option('--json', 'print the lines of the tape')
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
