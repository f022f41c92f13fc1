import type { Command } from 'commander'
import { splitAtDashes } from '../dashes.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { PinOptions } from '../run/pin.js'
import { headerOption, responseTimeout } from './server-options.js'

export function registerPin(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('pin')
    .summary('pin what a server offers, and show what changed since')
    .description(
      'Writes everything that a server offers (tools, prompts, resources, instructions) to a lock file, and later ' +
        'reports differences. Exits 1 if there are any.',
    )
    .argument('[recording...]', 'recordings; or name a server with --url or a command after --')
    .usage('[options] [<recording...>] [-- <command...>]')
    .option('--url <url>', 'an HTTP server')
    .addOption(headerOption())
    .option('--lock <file>', 'the lock file (default: wiretape.lock in this folder)')
    .option('--verify', 'write nothing; exit 1 if the server differs or is not pinned')
    .option('--accept', 'accept the differences into the lock file')
    .addOption(responseTimeout())
    .addHelpText(
      'after',
      `
Examples:
  wiretape pin latest
  wiretape pin -- npx -y @modelcontextprotocol/server-everything@2026.1.0
  wiretape pin --verify --url https://example.com/mcp
  wiretape check tape.jsonl --pin wiretape.lock`,
    )
    .action(async (words: string[], options: PinOptions) => {
      const { runPin } = await import('../run/pin.js')
      const { before, command } = splitAtDashes(words, program)
      outcome.code = await runPin(before, command, options, io)
    })
}
