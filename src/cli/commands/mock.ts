import { Option, type Command } from 'commander'
import { splitAtDashes } from '../dashes.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { MockCommandOptions } from '../run/mock.js'

export function registerMock(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('mock')
    .summary('be the recorded server')
    .description(
      'Answers a client as the recorded server did, with the recorded text: on stdio, or over HTTP with --listen. ' +
        'Calls are matched by method and parameters, equal ones in their recorded order; notifications, progress ' +
        "and the server's own requests come where they came.",
    )
    .argument(
      '<recording...>',
      'of any format, with all segments of a rotated one; several are played as one',
    )
    .option('--from <format>', 'what the recording is (default: its content tells)')
    .option('--listen <host:port>', 'serve over HTTP there, for this machine only; port 0 is any free one')
    .option('--open-to-all-users', 'with --listen: answer other users of this machine too')
    .addOption(
      new Option('--transport <name>', 'over HTTP (default: as it was recorded)').choices([
        'streamable-http',
        'sse',
      ]),
    )
    .option('--repeat-last', 'give the last recorded answer again to calls beyond the recorded ones')
    .option('--pace <pace>', 'fast, recorded, or 4x for four times faster than recorded', 'fast')
    .option('--rules <file>', 'rules that every message passes, of either side: faults, delays, changes')
    .option('--fallback', 'ask the real server, whose command stands after --, what was not recorded')
    .addOption(
      new Option(
        '--record <what>',
        "keep the real server's answers in a copy of the recording: the new ones, or ask it everything",
      ).choices(['new', 'all']),
    )
    .option('--out <file>', 'the copy (a tape); what is there is replaced')
    .option('-q, --quiet', 'do not tell on stderr which calls were not recorded')
    .usage('[options] <recording...> [-- <command> [args...]]')
    .addHelpText(
      'after',
      `
A call that was not recorded gets an error that names the nearest recorded one
and the difference.

Examples:
  wiretape mock tape.jsonl
  wiretape mock tape.jsonl --listen 127.0.0.1:8080
  wiretape mock t.jsonl --fallback --record new --out more.jsonl -- node srv.js

In the configuration of an MCP client:
  "command": "wiretape", "args": ["mock", "/path/to/tape.jsonl"]`,
    )
    .action(async (words: string[], options: MockCommandOptions) => {
      const { runMock } = await import('../run/mock.js')
      const { before: files, command } = splitAtDashes(words, program)
      outcome.code = await runMock(files, command, options, io)
    })
}
