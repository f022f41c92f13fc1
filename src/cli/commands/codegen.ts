import { Option, type Command } from 'commander'
import type { TestKind } from '../../codegen/index.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { CodegenOptions } from '../run/codegen.js'

/** Named here, so that other commands do not load the printers. */
const kinds: Readonly<Record<TestKind, true>> = { vitest: true, 'node-test': true, pytest: true }

export function registerCodegen(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('codegen')
    .summary('turn a recording into a test')
    .description(
      'Prints a readable test against the recorded server: each call with its assertions, patterns for values that ' +
        'vary, and values that a later call takes from an earlier response. A compare file beside the recording lists more ' +
        'values that vary: wiretape replay --learn writes it.',
    )
    .argument('<file>', 'a recording of any format')
    .argument(
      '[words...]',
      'after --, the command with which the test starts the server (default: the recorded one)',
    )
    .usage('[options] <file> [-- <command...>]')
    .addOption(new Option('--to <kind>', 'the test runner').choices(Object.keys(kinds)).makeOptionMandatory())
    .option('--filter <filter>', 'only requests that match')
    .option('--out <file>', 'the file to write (default: stdout)')
    .option('--force', 'replace an existing file')
    .addOption(
      new Option(
        '--client <client>',
        'for pytest: the mcp package (2 or later), or plain for the standard library',
      )
        .choices(['mcp', 'plain'])
        .default('mcp'),
    )
    .option('--compare-file <file>', 'a compare file (default: <recording>.compare.yaml, if it exists)')
    .option('--no-compare-file', 'ignore the compare file beside the recording')
    .addHelpText(
      'after',
      `
Examples:
  wiretape codegen tape.jsonl --to vitest --out server.test.ts
  wiretape codegen latest --to pytest --client plain -- python server.py
  wiretape codegen tape.jsonl --to node-test --filter 'tool:search'`,
    )
    .action(async (recording: string, command: string[], options: CodegenOptions) => {
      const { runCodegen } = await import('../run/codegen.js')
      outcome.code = await runCodegen(recording, command, options, io)
    })
}
