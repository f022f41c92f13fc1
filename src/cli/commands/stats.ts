import { Option, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { StatsOptions } from '../run/stats.js'

export function registerStats(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('stats')
    .summary('count and time the tool calls of recordings')
    .description(
      'Prints calls, errors, latencies and bytes of each tool, the slowest tool first, and the tools that nobody ' +
        'called. Without a recording, of all recordings of your data folder.',
    )
    .argument('[recording...]', 'recordings; a label stands for all with that label')
    .addOption(
      new Option('--by <what>', 'what is told apart')
        .choices(['tool', 'method', 'server', 'client', 'day'])
        .default('tool'),
    )
    .option('--since <time>', 'only calls from then on: 7d, 12h, 2026-11-20')
    .option('--json', 'machine output')
    .option('--jsonl', 'machine output, one line a row')
    .addHelpText(
      'after',
      `
Examples:
  wiretape stats
  wiretape stats latest
  wiretape stats shop --by day --since 30d
  wiretape stats --json | jq '.groups[] | select(.errors > 0).name'`,
    )
    .action(async (names: string[], options: StatsOptions) => {
      const { runStats } = await import('../run/stats.js')
      outcome.code = await runStats(names, options, io)
    })
}
