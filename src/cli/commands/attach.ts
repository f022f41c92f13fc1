import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../program.js'

export function registerAttach(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('attach')
    .summary('look at a live capture, and hold, change or drop its messages')
    .description(
      'Opens a screen on a capture that is running: what is said right now, and what was said since it began. ' +
        'Messages can be held, changed, dropped, answered and sent again. Any number of screens may attach and ' +
        'leave; the capture goes on.',
    )
    .argument('[id]', "start of a session's id, label or pid, as `wiretape ls` tells (default: the only one)")
    .addHelpText(
      'after',
      `
Press ? on the screen for its keys.

Examples:
  wiretape attach
  wiretape attach everything`,
    )
    .action(async (name: string | undefined) => {
      const { runAttach } = await import('../run/attach.js')
      outcome.code = await runAttach(name, io)
    })
}
