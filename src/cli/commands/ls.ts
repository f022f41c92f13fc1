import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { LsOptions } from '../run/ls.js'

export function registerLs(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('ls')
    .summary('list recordings and live captures')
    .description(
      'Lists the recordings of a folder, oldest first, and says which are being made right now. Every command ' +
        'takes a recording by its name or by its file.',
    )
    .argument('[dir]', 'folder to list (default: the recordings in your data folder)')
    .option('--since <time>', 'only those that were recorded since: 7d, 12h, 2026-11-20')
    .option('--server <name>', 'only of this server, by its own name or the label; a part is enough')
    .option('--json', 'machine output')
    .option('--jsonl', 'machine output, one recording a line')
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
