import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'

export function registerReload(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('reload')
    .summary('restart the server of a live capture; its client stays connected')
    .description(
      'Stops the server process of a capture and starts its command again. The client keeps its pipe or its ' +
        'HTTP session: the new process gets the handshake, log level and subscriptions of the old one, open ' +
        'requests get an error, and changed lists are announced. The capture must be recorded with ' +
        '--reloadable, or with --watch, which does the same whenever a file changes.',
    )
    .argument(
      '[name]',
      "the capture: its label, pid or the start of its session's id (default: the only live one)",
    )
    .addHelpText(
      'after',
      `
Exits 1 if the server does not start; its output is in the log of its client.

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
