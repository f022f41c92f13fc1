import { InvalidArgumentError, Option, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { InspectOptions } from '../run/inspect.js'

export function registerInspect(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('inspect')
    .summary('print a recording')
    .description(
      'Prints what was said, one line a message: its number, when it was seen, its JSON-RPC id, for an ' +
        'answer how long it took, and what it is about. → is the client, ← the server. Several files are ' +
        'merged by time; the files of one rotated recording are joined.',
    )
    .argument('<file...>', 'recordings, also while they are being written; - reads stdin')
    .option('--at <store>', 'segments of a fleet instead, each HASH or HASH#SEQ (docs/fleet.md)')
    .option('-v, --verbose', 'payloads and stderr too')
    .option('--json', 'machine output; payloads with -v')
    .option('--jsonl', 'machine output, one message a line; payloads with -v')
    .option('--filter <filter>', 'only what matches; numbers stay what they are (docs/filter.md)')
    .option('--fields <list>', 'these columns: seq,time,tool,latency,$.params.arguments.q')
    .addOption(new Option('--format <f>', 'of the columns').choices(['table', 'tsv', 'jsonl']))
    .option('--raw <number>', 'only the exact bytes of this message', messageNumber)
    .option('--findings', 'mark what rules found, also with --filter and --json (docs/findings.md)')
    .option('--no-findings', 'mark nothing')
    .option('--check', 'only list what is wrong, and exit 1 if anything is')
    .addHelpText(
      'after',
      `
Examples:
  wiretape inspect tape.jsonl
  wiretape inspect -v tape.jsonl
  wiretape inspect --filter 'tool:search latency:>200ms' tape.jsonl
  wiretape inspect --fields seq,tool,latency --filter is:request latest
  wiretape inspect --raw 12 latest | jq .params
  wiretape inspect --check tapes/*.jsonl
  wiretape inspect --json tape.jsonl | jq '.messages[] | select(.latencyUs > 1e6)'`,
    )
    .action(async (files: string[], options: InspectOptions & { readonly at?: string }) => {
      if (options.at !== undefined) {
        const { runInspectAt } = await import('../run/inspect-at.js')
        outcome.code = await runInspectAt(files, options.at, options, io)
        return
      }
      const { runInspect } = await import('../run/inspect.js')
      outcome.code = await runInspect(files, options, io)
    })
}

function messageNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is the number that inspect shows.')
}
