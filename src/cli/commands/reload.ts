import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'

export function registerReload(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('reload')
    .summary('start the server of a live capture again; its client stays connected')
    .description(
      'Ends the server process of a capture and starts it again from its command. The client keeps its pipe or its ' +
        'HTTP session: the new process gets the handshake, log level and subscriptions of the old one, what was ' +
        'open gets an error, and lists that are others now are announced. The capture has to be recorded with ' +
        '--reloadable, or with --watch, which does the same whenever a file changes.',
    )
    .argument(
      '[name]',
      "the capture: its label, pid or the start of its session's id (default: the only live one)",
    )
    .addHelpText(
      'after',
      `
Exits with 1 when the server does not come up; what it printed is in the log of its client.

Examples:
  wiretape record --watch 'src/**/*.ts' -- npx tsx src/server.ts
  wiretape record --reloadable -- node server.js
  wiretape reload
  wiretape reload shop`,
    )
    .action(async (name: string | undefined) => {
      const { runReload } = await import('../run/reload.js')
      outcome.code = await runReload(name, io)
    })
}
