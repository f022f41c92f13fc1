import { Option, type Command } from 'commander'
import { splitAtDashes } from '../dashes.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { MockCommandOptions } from '../run/mock.js'

export function registerMock(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('mock')
    .summary('serve a recording as a mock MCP server')
    .description(
      'Responds to a client as the recorded server did, with the recorded text: on stdio, or over HTTP with --listen. ' +
        'Calls are matched by method and parameters, repeated ones in their recorded order. Notifications, progress ' +
        "and the server's own requests are sent where they were recorded.",
    )
    .argument(
      '<recording...>',
      'recordings of any format, with all segments of a rotated one; several are served as one',
    )
    .option('--from <format>', 'format of the recording (default: detected from its content)')
    .option(
      '--listen <host:port>',
      'serve over HTTP at this address, for this machine only; port 0 picks a free port',
    )
    .option('--open-to-all-users', 'with --listen: serve other users of this machine too')
    .addOption(
      new Option('--transport <name>', 'the transport over HTTP (default: the recorded one)').choices([
        'streamable-http',
        'sse',
      ]),
    )
    .option('--repeat-last', 'repeat the last recorded response for calls beyond the recorded ones')
    .option('--pace <pace>', 'fast, recorded, or a factor: 4x is four times faster than recorded', 'fast')
    .option('--rules <file>', 'apply these rules to every message of either side: faults, delays, changes')
    .option('--fallback', 'forward unmatched calls to the real server, whose command follows --')
    .addOption(
      new Option(
        '--record <what>',
        "save the real server's responses in a copy of the recording: only the new ones, or all",
      ).choices(['new', 'all']),
    )
    .option('--out <file>', 'file of the copy (a tape); an existing file is replaced')
    .option('-q, --quiet', 'do not list unmatched calls on stderr')
    .usage('[options] <recording...> [-- <command> [args...]]')
    .addHelpText(
      'after',
      `
An unmatched call gets an error that names the nearest recorded call and the
difference.

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
