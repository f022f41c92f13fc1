import { InvalidArgumentError, type Command } from 'commander'
import type { Io } from '../io.js'
import { parseAge, parseKeepSize } from '../keep-option.js'
import type { Outcome } from '../outcome.js'
import type { PruneOptions } from '../run/prune.js'

export function registerPrune(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('prune')
    .summary('delete old recordings')
    .description(
      'Deletes recordings of your data folder by age, or the oldest ones until the rest is small ' +
        'enough. Live captures and other files are never deleted.',
    )
    .option('--older-than <age>', 'delete recordings that ended before: 30d, 12h', sentence(parseAge))
    .option(
      '--keep-size <size>',
      'delete the oldest until the total size is at most: 5GB',
      sentence(parseKeepSize),
    )
    .option('--label <label>', 'only recordings with this label')
    .option('--dry-run', 'only list what would be deleted')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  wiretape prune --older-than 30d --dry-run
  wiretape prune --older-than 30d --keep-size 5GB
  wiretape prune --label shop --keep-size 500MB`,
    )
    .action(async (options: PruneOptions) => {
      const { runPrune } = await import('../run/prune.js')
      outcome.code = await runPrune(options, io)
    })
}

function sentence(parse: (text: string) => number): (text: string) => number {
  return (text) => {
    try {
      return parse(text)
    } catch (problem) {
      throw new InvalidArgumentError(problem instanceof Error ? problem.message : String(problem))
    }
  }
}
