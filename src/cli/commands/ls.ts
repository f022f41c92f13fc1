import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { LsOptions } from '../run/ls.js'

export function registerLs(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('ls')
    .summary('list recordings and live captures')
    .description(
      'Lists the recordings of a folder, oldest first, and marks live captures. Every command ' +
        'accepts a recording by its name or its file.',
    )
    .argument('[dir]', 'folder to list (default: the recordings in your data folder)')
    .option('--since <time>', 'only recordings since: 7d, 12h, 2026-11-20')
    .option('--server <name>', 'only recordings of this server: its name or label, or a part of it')
    .option('--json', 'print JSON')
    .option('--jsonl', 'print JSON, one recording per line')
    .addHelpText(
      'after',
      `
Examples:
  wiretape ls
  wiretape ls --since 7d --server shop
  wiretape ls tapes`,
    )
    .action(async (folder: string | undefined, options: LsOptions) => {
      const { runLs } = await import('../run/ls.js')
      outcome.code = await runLs(folder, options, io)
    })
}
