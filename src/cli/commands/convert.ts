import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { ConvertOptions } from '../run/convert.js'

export function registerConvert(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('convert')
    .summary('turn a recording into another format')
    .description(
      'Reads a recording of any format and writes it in another. Payloads keep their exact text. What the ' +
        'target cannot hold is said. Several inputs are merged by time; the segments of a rotated recording are joined.',
    )
    .argument('<file...>', 'the recording, then the file to write; - is stdin and stdout')
    .usage('[options] <in...> <out>')
    .option('--from <format>', 'what the input is (default: its content tells)')
    .option(
      '--to <format>',
      'what to write: trace-v1, session-json, jsonrpc, inspector, har, streamable-http, http-sse, assay-trace, ' +
        'otlp-json, otlp-proto, otlp-metrics-json, otlp-metrics-proto, markdown, csv, parquet, html (default: the name ' +
        'of the output tells)',
    )
    .option('--filter <filter>', 'only the exchanges of which a message matches (docs/filter.md)')
    .option('--strict', 'exit 1 when the target cannot hold everything')
    .option('--strict-v1', 'write only what the published trace v1 format has')
    .option('--compact', 'session-json: every payload on one line')
    .option('--otlp-payload', 'otlp-json, otlp-proto: spans have the payloads of requests and responses')
    .option('--force', 'replace an output that exists')
    .addHelpText(
      'after',
      `
Examples:
  wiretape convert tape.jsonl session.json
  wiretape convert session.json tape.jsonl
  wiretape convert tape.jsonl report.html    to look at in a browser
  wiretape convert --filter 'tool:search status:error' tape.jsonl errors.json
  wiretape convert a.jsonl b.jsonl both.jsonl
  wiretape convert --to session-json tape.jsonl - | jq .messages[0]`,
    )
    .action(async (files: string[], options: ConvertOptions) => {
      const { runConvert } = await import('../run/convert.js')
      outcome.code = await runConvert(files, options, io)
    })
}
