import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { ImportOptions } from '../run/import.js'

const formatHelp =
  'format of the input: inspector, jsonrpc, streamable-http, http-sse (default: detected from its content)'

const profileHelp =
  'rules of the importer: documented (Assay 3.5 to 3.36), strict (3.37 and later) (default: documented)'

const untimedHelp =
  'the time of a transcript without times: now, milliseconds, or an ISO 8601 time (default: 0, with --profile strict now)'

export function registerImport(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('import')
    .summary('turn an MCP transcript into Trace V2 events')
    .description(
      'Reads a transcript by the documented rules and writes its tool calls as Trace V2 events, one per line. ' +
        'A file that breaks a rule is rejected, and nothing is written.',
    )
    .argument('<files...>', 'the transcripts; - reads stdin')
    .option('--format <format>', formatHelp)
    .option('--profile <profile>', profileHelp)
    .option(
      '--out-trace <file>',
      'the output file; - is stdout; a folder gets one file per input (default: <name>.trace.jsonl beside the input)',
    )
    .option('--untimed <time>', untimedHelp)
    .option('--init', 'also write mcp-eval.yaml, with tests of the tools that were called')
    .addHelpText(
      'after',
      `
Examples:
  wiretape import session.json --format streamable-http
  wiretape import messages.jsonl --format jsonrpc --out-trace trace.jsonl
  wiretape import *.json --profile strict --out-trace traces/`,
    )
    .action(async (files: string[], options: ImportOptions) => {
      const { runImport } = await import('../run/import.js')
      outcome.code = await runImport(files, options, io)
    })
}

export function registerTrace(program: Command, io: Io, outcome: Outcome): void {
  const trace = program
    .command('trace')
    .summary('turn transcripts into traces')
    .description('Turns transcripts into traces.')
    .helpCommand(false)
  trace
    .command('import-mcp')
    .summary('turn an MCP transcript into Trace V2 events')
    .description('Like `wiretape import`, with a choice of episode id.')
    .requiredOption('--input <files...>', 'the transcripts; - reads stdin')
    .requiredOption('--out-trace <file>', 'the output file; - is stdout; a folder gets one file per input')
    .option('--format <format>', formatHelp)
    .option('--profile <profile>', profileHelp)
    .option('--untimed <time>', untimedHelp)
    .option('--episode-id <id>', 'id of the episode (default: the name of the input without its extension)')
    .option('--test-id <id>', 'written to the metadata of the episode')
    .option('--prompt <text>', 'prompt of the episode (default: <mcp:session>)')
    .addHelpText(
      'after',
      `
Examples:
  wiretape trace import-mcp --input s.json --out-trace t.jsonl --episode-id run-7`,
    )
    .action(async ({ input, ...options }: ImportOptions & { input: string[] }) => {
      const { runImport } = await import('../run/import.js')
      outcome.code = await runImport(input, options, io)
    })
}
