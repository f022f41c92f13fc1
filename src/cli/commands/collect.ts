import { InvalidArgumentError, Option, type Command } from 'commander'
import { parseTimeout } from '../duration-option.js'
import { otlpOption, otlpProtocolOption } from '../metrics-options.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { CollectOptions } from '../run/collect.js'

export function registerCollect(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('collect')
    .summary('index the recordings of a fleet')
    .description(
      'Collects the sealed segments that recorders ship, and indexes them for wiretape sql --at. ' +
        'Any number of collectors may run in parallel; each may be killed at any time (docs/fleet.md).',
    )
    .requiredOption('--from <store>', 'source, where recorders ship to: nats://HOST, s3://BUCKET or a folder')
    .requiredOption('--to <store>', 'store for segments and index: s3://BUCKET or a folder')
    .option('--once', 'exit when nothing is left; with status 1 if a segment could not be read')
    .option('--retry-dead', 'retry the dead letters of the store first')
    .option('--batch-messages <n>', 'write a batch after this many messages', positiveNumber, 50_000)
    .addOption(
      new Option('--batch-age <time>', 'write a batch after this time')
        .argParser(parseTimeout)
        .default(30_000, '30s'),
    )
    .addOption(otlpOption())
    .addOption(otlpProtocolOption())
    .option('--json', 'print JSON, one line per batch')
    .addHelpText(
      'after',
      `
Examples:
  wiretape collect --from nats://bus.example.com --to s3://recordings
  wiretape collect --from /srv/shipped --to /srv/shipped --once
  wiretape sql --at s3://recordings 'select tool, calls, p99_ms from tools'`,
    )
    .action(async (options: CollectOptions) => {
      const { runCollect } = await import('../run/collect.js')
      outcome.code = await runCollect(options, io)
    })
}

function positiveNumber(text: string): number {
  if (/^[1-9]\d{0,7}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Use a number above 0.')
}
