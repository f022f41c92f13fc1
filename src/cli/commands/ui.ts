import { InvalidArgumentError, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { UiOptions } from '../run/ui.js'

export function registerUi(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('ui')
    .summary('open recordings and live captures in the browser')
    .description(
      'Serves the viewer on 127.0.0.1 and opens it in the browser, with the named files, or with a list of the recordings in your data folder. Live captures are followed. Ctrl+C stops it.',
    )
    .argument('[file...]', 'recordings of any format')
    .option(
      '--at <store>',
      'show the sessions of a fleet in this store: s3://BUCKET or a folder (docs/fleet.md)',
    )
    .option('--port <n>', 'port to listen on (default: a free port)', parsePort)
    .option('--calls <dir>', 'folder of saved calls (default: calls, if it exists)')
    .option('--no-open', 'only print the address')
    .option('--open-to-all-users', 'serve other users of this machine too')
    .addHelpText(
      'after',
      `
Examples:
  wiretape ui
  wiretape ui tape.jsonl
  wiretape ui files.jsonl search.jsonl    both on one timeline
  wiretape ui --at s3://recordings        sessions of a fleet`,
    )
    .action(async (files: string[], options: UiOptions) => {
      const { runUi } = await import('../run/ui.js')
      outcome.code = await runUi(files, options, io)
    })
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('Use a port from 0 to 65535.')
  return port
}
