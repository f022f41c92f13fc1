import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../program.js'
import type { ImportOptions } from '../run/import.js'

const formatHelp =
  'what the input is: inspector, jsonrpc, streamable-http, http-sse (default: its content tells)'

export function registerImport(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('import')
    .summary('turn an MCP transcript into Trace V2 events')
    .description(
      'Reads a transcript by the documented rules and writes its tool calls as Trace V2 events, one a line. ' +
        'The first thing that breaks a rule refuses the file, and nothing is written.',
    )
    .argument('<file>', 'the transcript; - reads stdin')
    .option('--format <format>', formatHelp)
    .option(
      '--out-trace <file>',
      'where the trace goes; - is stdout (default: <name>.trace.jsonl beside the input)',
    )
    .addHelpText(
      'after',
      `
Examples:
  wiretape import session.json --format streamable-http
  wiretape import messages.jsonl --format jsonrpc --out-trace trace.jsonl`,
    )
    .action(async (file: string, options: ImportOptions) => {
      const { runImport } = await import('../run/import.js')
      outcome.code = await runImport(file, options, io)
    })
}

export function registerTrace(program: Command, io: Io, outcome: Outcome): void {
  const trace = program
    .command('trace')
    .summary('make traces of transcripts')
    .description('Makes traces of transcripts.')
  trace
    .command('import-mcp')
    .summary('turn an MCP transcript into Trace V2 events')
    .description('As `wiretape import`, with a say in how the episode is called.')
    .requiredOption('--input <file>', 'the transcript; - reads stdin')
    .requiredOption('--out-trace <file>', 'where the trace goes; - is stdout')
    .option('--format <format>', formatHelp)
    .option('--episode-id <id>', 'default: the name of the input without its extension')
    .option('--test-id <id>', 'written to the meta data of the episode')
    .option('--prompt <text>', 'default: <mcp:session>')
    .addHelpText(
      'after',
      `
Examples:
  wiretape trace import-mcp --input s.json --out-trace t.jsonl --episode-id run-7`,
    )
    .action(async ({ input, ...options }: ImportOptions & { input: string }) => {
      const { runImport } = await import('../run/import.js')
      outcome.code = await runImport(input, options, io)
    })
}
