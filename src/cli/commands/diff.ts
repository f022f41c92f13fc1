import type { Command } from 'commander'
import { addCompareOptions, matchersHelp } from '../compare/compare-options.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { DiffOptions } from '../run/diff.js'

export function registerDiff(program: Command, io: Io, outcome: Outcome): void {
  const command = program
    .command('diff')
    .summary('compare two recordings')
    .description(
      'Compares the requests and responses of two recordings. Two requests match when their method, name ' +
        'and arguments are the same. Exits 0 if nothing differs, 1 if something does.',
    )
    .argument('<before>', 'the baseline recording; - reads stdin')
    .argument('<after>', 'the recording to compare with the baseline')
  addCompareOptions(command)
    .option('--all', 'print matches too')
    .addHelpText(
      'after',
      `${matchersHelp}

Examples:
  wiretape diff monday.jsonl tuesday.jsonl
  wiretape diff a.jsonl b.jsonl --match '$.result.structuredContent.at=timestamp'
  wiretape diff a.jsonl b.jsonl --level schema --report junit=diff.xml`,
    )
    .action(async (before: string, after: string, options: DiffOptions) => {
      const { runDiff } = await import('../run/diff.js')
      outcome.code = await runDiff(before, after, options, io)
    })
}
