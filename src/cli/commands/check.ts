import { Option, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { CheckOptions } from '../run/check.js'
import type { CostOptions } from '../run/cost.js'

export function registerCheck(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('check')
    .summary('find protocol errors and risks in recordings')
    .description(
      "Checks recordings against rules: the protocol, the tools' schemas, known risks, and your expectations " +
        '(docs/findings.md). Exits 1 when a finding has the level of --fail-on or above.',
    )
    .argument('<recording...>', 'recordings, checked together as one run')
    .option(
      '--rules <pack|id>',
      'run only these rules: protocol, schemas, safety, or the id of a rule; repeatable',
      collect,
    )
    .option(
      '--fail-on <level|id>',
      'exit 1 at this level or above (error, warning, note), or for this rule; repeatable (default: error)',
      collect,
    )
    .option('--baseline <file>', 'ignore the findings of this report (json)')
    .option('--pin <file>', 'report every definition that differs from this lock file of wiretape pin')
    .option('--expect-tool <name>', 'a tool that must be called; repeatable', collect)
    .option('--forbid-tool <name>', 'a tool that must not be called; repeatable', collect)
    .option(
      '--max-latency <tool:time>',
      'maximum latency of a call, such as search:2s; without a tool name, for all tools; repeatable',
      collect,
    )
    .option('--no-new-tools', 'report tools that are not in the lock file (--pin, or wiretape.lock)')
    .option('--max-errors <count>', 'maximum number of failed calls')
    .option('--max-context <tokens>', 'maximum token cost of the definitions, such as 20k (an estimate)')
    .addOption(
      new Option(
        '--config <file>',
        'a file of expectations (default: wiretape.check.yaml in this folder)',
      ).conflicts('noConfig'),
    )
    .option('--no-config', 'ignore wiretape.check.yaml')
    .option('--list-rules', 'list all rules and exit')
    .option(
      '--report <kind=file>',
      'also write a report: json, sarif, junit, github, ctrf or markdown; repeatable',
      collect,
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  wiretape check tape.jsonl
  wiretape check latest --rules safety --fail-on warning
  wiretape check tapes/*.jsonl --report sarif=findings.sarif
  wiretape check tape.jsonl --expect-tool search --max-latency search:2s`,
    )
    .action(async (recordings: string[], options: CheckOptions) => {
      const { runCheck } = await import('../run/check.js')
      outcome.code = await runCheck(recordings, options, io)
    })
}

export function registerCost(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('cost')
    .summary('estimate what definitions and results cost in tokens')
    .description(
      'Prints the cost of each tool, prompt and resource: its definition, which is part of every prompt, and its results. ' +
        'Tokens are estimated as characters / 4. Exits 1 when the definitions cost more than --max.',
    )
    .argument('<recording...>', 'recordings, counted together as one run')
    .option('--max <tokens>', 'maximum token cost of all definitions, such as 20k')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  wiretape cost tape.jsonl
  wiretape cost latest --max 20k`,
    )
    .action(async (recordings: string[], options: CostOptions) => {
      const { runCost } = await import('../run/cost.js')
      outcome.code = await runCost(recordings, options, io)
    })
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}
