import { InvalidArgumentError, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { ExplainOptions } from '../run/explain.js'

export function registerExplain(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('explain')
    .summary('explain what happened to a call, and who is at fault')
    .description(
      'Explains in sentences what happened to a request: whether it was sent, held, edited, answered, refused, ' +
        'cancelled or retried, who is at fault as far as the recording proves it, and what it cannot prove. ' +
        'Without a number, explains every failed call in one or two sentences (docs/explain.md).',
    )
    .argument('<file>', 'a recording')
    .argument('[n]', 'number of a request or its response, as shown by inspect', messageNumber)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  wiretape explain latest
  wiretape explain tape.jsonl 12
  wiretape explain tape.jsonl --json | jq '.calls[].because'`,
    )
    .action(async (recording: string, number: number | undefined, options: ExplainOptions) => {
      const { runExplain } = await import('../run/explain.js')
      outcome.code = await runExplain(recording, number, options, io)
    })
}

function messageNumber(text: string): number {
  if (/^#?\d{1,15}$/.test(text)) return Number(text.replace('#', ''))
  throw new InvalidArgumentError('Use the number that inspect shows.')
}
