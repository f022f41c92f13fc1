import { InvalidArgumentError, Option, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { InspectOptions } from '../run/inspect.js'

export function registerInspect(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('inspect')
    .summary('print a recording')
    .description(
      'Prints one line per message: its number, time, JSON-RPC id, for a response ' +
        'its latency, and its content. → comes from the client, ← from the server. Several files are ' +
        'merged by time; the files of one rotated recording are joined.',
    )
    .argument('<file...>', 'recordings, including live ones; - reads stdin')
    .option(
      '--at <store>',
      'read segments of a fleet from this store; each file is HASH or HASH#SEQ (docs/fleet.md)',
    )
    .option('-v, --verbose', 'print payloads and stderr too')
    .option('--json', 'print JSON; with -v also payloads')
    .option('--jsonl', 'print JSON, one message per line; with -v also payloads')
    .option('--filter <filter>', 'only matching messages; their numbers do not change (docs/filter.md)')
    .option('--fields <list>', 'columns to print: seq,time,tool,latency,$.params.arguments.q')
    .addOption(new Option('--format <f>', 'format of the columns').choices(['table', 'tsv', 'jsonl']))
    .option('--raw <number>', 'print only the exact bytes of this message', messageNumber)
    .option('--findings', 'also show notes, and show findings with --filter and --json (docs/findings.md)')
    .option('--no-findings', 'show no findings')
    .option('--check', 'list only problems, and exit 1 if there are any')
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
  throw new InvalidArgumentError('Use the number that inspect shows.')
}
