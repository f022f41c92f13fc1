import { InvalidArgumentError, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { ExplainOptions } from '../run/explain.js'

export function registerExplain(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('explain')
    .summary('say what happened to a call, and who is at fault')
    .description(
      'Says in sentences what happened to a request: whether it was sent, held, changed, answered, refused, ' +
        'cancelled or sent again, who is at fault as far as the recording proves it, and what it cannot prove. ' +
        'Without a number, every call that went wrong in one or two sentences (docs/explain.md).',
    )
    .argument('<file>', 'a recording')
    .argument('[n]', 'the number that inspect shows, of a request or of its answer', messageNumber)
    .option('--json', 'machine output')
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
  throw new InvalidArgumentError('It is the number that inspect shows.')
}
