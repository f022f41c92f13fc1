import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../program.js'
import type { LsOptions } from '../run/ls.js'

export function registerLs(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('ls')
    .summary('list recordings and live captures')
    .description('Lists the recordings of a folder, oldest first, and says which are being made right now.')
    .argument('[dir]', 'folder to list (default: the recordings in your data folder)')
    .option('--json', 'machine output')
    .addHelpText(
      'after',
      `
Examples:
  wiretape ls
  wiretape ls tapes`,
    )
    .action(async (folder: string | undefined, options: LsOptions) => {
      const { runLs } = await import('../run/ls.js')
      outcome.code = await runLs(folder, options, io)
    })
}
