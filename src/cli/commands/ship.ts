import { InvalidArgumentError, Option, type Command } from 'commander'
import { parseTimeout } from '../duration-option.js'
import { otlpOption, otlpProtocolOption } from '../metrics-options.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { ShipCommandOptions } from '../run/ship.js'

export function registerShip(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('ship')
    .summary('put sealed segments into a store: a folder, S3 or JetStream')
    .description(
      'Compresses every sealed segment of the recordings in your data folder and puts it into a store, once. ' +
        'Segments that are still written stay; recording never waits.',
    )
    .option('--to <store>', 'a folder, s3://bucket/prefix or nats://host (default: the target of the policy)')
    .option('--once', 'ship the sealed segments, then exit (default)')
    .addOption(
      new Option(
        '--follow',
        'keep running: ship each segment when it is sealed; wait while the store is unavailable',
      ).conflicts('once'),
    )
    .option('--every <time>', 'with --follow: how often to check (default: 5s)', (text) => {
      try {
        return parseTimeout(text)
      } catch (problem) {
        throw new InvalidArgumentError(problem instanceof Error ? problem.message : String(problem))
      }
    })
    .addOption(
      new Option(
        '--compression <name>',
        'compression of segments; zstd needs Node 22.15 (default: gzip)',
      ).choices(['gzip', 'zstd']),
    )
    .addOption(otlpOption())
    .addOption(otlpProtocolOption())
    .option('--json', 'print JSON, one line per pass')
    .addHelpText(
      'after',
      `
Credentials come from the environment (S3) and from files (NATS): see docs/ship.md.

Examples:
  wiretape ship --to /mnt/tapes
  wiretape ship --to s3://tapes/team-a --follow
  wiretape ship --to nats://bus.example.com --follow`,
    )
    .action(async (options: ShipCommandOptions) => {
      const { runShip } = await import('../run/ship.js')
      outcome.code = await runShip(options, io)
    })
}
