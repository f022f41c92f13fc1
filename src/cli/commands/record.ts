import { InvalidArgumentError, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../program.js'
import type { RecordOptions } from '../run/record.js'

export function registerRecord(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('record')
    .summary('record a server in the path of its client')
    .description(
      'Starts a stdio server and records everything between it and whoever started wiretape.\n' +
        'Put it in front of the server command of your MCP client; the client notices nothing.',
    )
    .argument(
      '<command...>',
      'the server and its arguments, after `--` or as the first word that is no option',
    )
    .passThroughOptions()
    .option('-o, --out <dir>', 'folder for the tape (default: the recordings in your data folder)')
    .option('--label <name>', 'name of the recording (default: the name of the server)')
    .option('--target <name>', 'what is being recorded, for the metadata')
    .option('--note <text>', 'a note for the metadata')
    .option('--meta <key=value>', 'more metadata; may be repeated', collectPairs)
    .option('--max-bytes <size>', 'start a new file before one grows beyond this, e.g. 50MB', parseSize)
    .option('--max-files <n>', 'keep only the newest files (with --max-bytes)', parseCount)
    .option('--strict-v1', 'write only what the published trace v1 format has')
    .option('-q, --quiet', 'say nothing at the end unless something went wrong')
    .addHelpText(
      'after',
      '\nExits as the server does: its status, 128 + signal, 127 when it cannot be started.',
    )
    .action(async (command: string[], options: RecordOptions) => {
      const { runRecord } = await import('../run/record.js')
      outcome.code = await runRecord(command, options, io)
    })
}

function collectPairs(
  value: string,
  before: readonly (readonly [string, string])[] = [],
): [string, string][] {
  const at = value.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It has the form KEY=VALUE.')
  return [...before.map(([k, v]): [string, string] => [k, v]), [value.slice(0, at), value.slice(at + 1)]]
}

const units: Readonly<Record<string, number>> = { '': 1, k: 1e3, kb: 1e3, m: 1e6, mb: 1e6, g: 1e9, gb: 1e9 }

function parseSize(value: string): number {
  const match = /^(\d{1,15})\s?([a-z]{0,2})$/i.exec(value)
  const unit = match && units[match[2]!.toLowerCase()]
  const size = match && unit ? Number(match[1]) * unit : 0
  if (size < 1000) throw new InvalidArgumentError('It is a size of at least 1kB, such as 500kB, 50MB or 2GB.')
  return size
}

function parseCount(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('It is a whole number from 1.')
  return Number(value)
}
