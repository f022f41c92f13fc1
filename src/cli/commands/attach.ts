import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'

export function registerAttach(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('attach')
    .summary('look at a live capture or a recording; hold, change or drop messages')
    .description(
      'Opens a screen on a capture that is running: what is said right now, and what was said since it began. ' +
        'Messages can be held, changed, dropped, answered and sent again. Any number of screens may attach and ' +
        'leave; the capture goes on. A recording opens the same way, to look at; several are merged by time.',
    )
    .argument(
      '[name...]',
      "a live capture by its label, pid or the start of its session's id, or a recording (default: the only live one)",
    )
    .addHelpText(
      'after',
      `
Press ? on the screen for its keys.

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
