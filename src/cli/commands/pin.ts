import type { Command } from 'commander'
import { durationForms } from '../../model/index.js'
import { splitAtDashes } from '../dashes.js'
import { parseTimeout } from '../duration-option.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { PinOptions } from '../run/pin.js'
import { optionOf } from './option-of.js'

const usualTimeoutMs = 60_000

export function registerPin(program: Command, io: Io, outcome: Outcome): void {
  const collect = (value: string, all: readonly string[] = []): string[] => [...all, value]
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
    .option(
      '--header <name: value>',
      'with --url: send this header with every request; ${NAME} comes from the environment; repeatable',
      collect,
    )
    .option('--lock <file>', 'the lock file (default: wiretape.lock in this folder)')
    .option('--verify', 'write nothing; exit 1 if the server differs or is not pinned')
    .option('--accept', 'accept the differences into the lock file')
    .addOption(
      optionOf({
        long: '--timeout',
        value: 'time',
        help: `timeout of each response: ${durationForms}`,
        parse: parseTimeout,
      }).default(usualTimeoutMs, '60s'),
    )
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
