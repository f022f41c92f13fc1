import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { RecoverOptions } from '../run/recover.js'

export function registerRecover(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('recover')
    .summary('close a truncated tape')
    .description('Writes a closed copy of a truncated tape: every complete line, and an end line.')
    .argument('<file>', 'the tape')
    .argument('[output]', "the output file; - is stdout (default: the tape's name with .recovered.jsonl)")
    .option('--in-place', 'replace the tape itself')
    .option('--session-file <file>', 'rebuild the session file from the tape and its other segments')
    .option('--compact', 'with --session-file: write each payload on one line')
    .option('--force', 'replace an existing output file')
    .addHelpText(
      'after',
      `
Examples:
  wiretape recover tape.jsonl
  wiretape recover tape.jsonl whole.jsonl
  wiretape recover --in-place tape.jsonl
  wiretape recover tape.jsonl --session-file session.json`,
    )
    .action(async (file: string, output: string | undefined, options: RecoverOptions) => {
      const { runRecover } = await import('../run/recover.js')
      outcome.code = await runRecover(file, output, options, io)
    })
}
