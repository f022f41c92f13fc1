import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { ConvertOptions } from '../run/convert.js'

export function registerConvert(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('convert')
    .summary('convert a recording to another format')
    .description(
      'Reads a recording of any format and writes it in another. Payloads keep their exact text where the ' +
        'format has room for it. Data that the target cannot hold is reported. Several inputs are merged by time; segments of a rotated recording are joined.',
    )
    .argument('<file...>', 'the recordings, then the output file; - is stdin or stdout')
    .usage('[options] <in...> <out>')
    .option('--from <format>', 'format of the input (default: detected from its content)')
    .option(
      '--to <format>',
      'output format: trace-v1, session-json, jsonrpc, inspector, har, streamable-http, http-sse, assay-trace, ' +
        'otlp-json, otlp-proto, otlp-metrics-json, otlp-metrics-proto, markdown, csv, parquet, html (default: from the ' +
        'name of the output)',
    )
    .option('--filter <filter>', 'only exchanges with a message that matches (docs/filter.md)')
    .option('--strict', 'exit 1 if the target cannot hold everything')
    .option('--strict-v1', 'write only members of the published trace v1 format')
    .option('--compact', 'session-json: write each payload on one line')
    .option(
      '--otlp-payload',
      'otlp-json, otlp-proto: include the payloads of requests and responses in spans',
    )
    .option('--force', 'replace an existing output file')
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
