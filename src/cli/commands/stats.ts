import { Option, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { StatsOptions } from '../run/stats.js'

export function registerStats(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('stats')
    .summary('count and time the tool calls of recordings')
    .description(
      'Prints calls, errors, latencies and bytes of each tool, the slowest tool first, and the tools that were never ' +
        'called. Without a recording, covers all recordings of your data folder.',
    )
    .argument('[recording...]', 'recordings; a label selects all recordings with that label')
    .addOption(
      new Option('--by <what>', 'how to group the calls')
        .choices(['tool', 'method', 'server', 'client', 'day'])
        .default('tool'),
    )
    .option('--since <time>', 'only calls since: 7d, 12h, 2026-11-20')
    .option('--json', 'print JSON')
    .option('--jsonl', 'print JSON, one row per line')
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
