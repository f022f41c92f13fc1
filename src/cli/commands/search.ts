import { InvalidArgumentError, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { SearchOptions } from '../run/search.js'

export function registerSearch(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('search')
    .summary('find messages in all recordings')
    .description(
      'Prints the messages in all recordings of your data folder that match a filter, newest ' +
        'recording first. Plain words are searched for in the text, the method and the name.',
    )
    .argument('<filter...>', 'words, or conditions such as tool:fetch (docs/filter.md)')
    .option('--since <time>', 'only messages since: 7d, 12h, 2026-11-20')
    .option('--in <name...>', "only these recordings: a label, a recording's name, a folder")
    .option('--limit <n>', 'stop after this many matches', count)
    .option('--json', 'print JSON')
    .option('--jsonl', 'print JSON, one match per line, as found')
    .addHelpText(
      'after',
      `
Examples:
  wiretape search timeout
  wiretape search 'tool:fetch status:error' --since 7d
  wiretape search 'path:$.params.arguments.q~invoice' --in shop
  wiretape search 'is:error -method:ping' --jsonl | jq .snippet`,
    )
    .action(async (words: string[], options: SearchOptions) => {
      const { runSearch } = await import('../run/search.js')
      outcome.code = await runSearch(words, options, io)
    })
}

function count(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Use a whole number, at least 1.')
}
