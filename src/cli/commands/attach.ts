import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'

export function registerAttach(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('attach')
    .summary('open a live capture or a recording in the terminal; hold, edit or drop messages')
    .description(
      'Opens a live capture in the terminal and shows its messages, from the first one on. ' +
        'Messages can be held, edited, dropped, answered and sent again. Any number of screens may attach and ' +
        'detach while the capture continues. Recordings open read-only; several are merged by time.',
    )
    .argument(
      '[name...]',
      "a live capture by its label, pid or the start of its session's id, or a recording (default: the only live one)",
    )
    .addHelpText(
      'after',
      `
Press ? for the keys.

Examples:
  wiretape attach
  wiretape attach everything
  wiretape attach latest`,
    )
    .action(async (names: string[]) => {
      const { runAttach } = await import('../run/attach.js')
      outcome.code = await runAttach(names, io)
    })
}
