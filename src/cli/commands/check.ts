import { Option, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { CheckOptions } from '../run/check.js'
import type { CostOptions } from '../run/cost.js'

export function registerCheck(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('check')
    .summary('find faults and risks in recordings')
    .description(
      'Holds recordings against rules: the protocol, the schemas of the tools, what is risky, and what you expect ' +
        '(docs/findings.md). Exits 1 when a finding has the level of --fail-on or above.',
    )
    .argument('<recording...>', 'recordings; all of them are one run')
    .option(
      '--rules <pack|id>',
      'only these: protocol, schemas, safety, or the id of a rule; repeatable',
      collect,
    )
    .option(
      '--fail-on <level|id>',
      'error, warning, note, or the id of a rule; repeatable (default: error)',
      collect,
    )
    .option('--baseline <file>', 'findings of this report (json) do not count')
    .option('--pin <file>', 'every definition has to be the one in this file of wiretape pin')
    .option('--expect-tool <name>', 'a tool that has to be called; repeatable', collect)
    .option('--forbid-tool <name>', 'a tool that may not be called; repeatable', collect)
    .option(
      '--max-latency <tool:time>',
      'how long a call may take, as search:2s; without a tool for all; repeatable',
      collect,
    )
    .option('--no-new-tools', 'every tool has to be one of --pin, or of wiretape.lock')
    .option('--max-errors <count>', 'how many calls may fail')
    .option('--max-context <tokens>', 'how much the definitions may cost, as 20k (an estimate)')
    .addOption(
      new Option(
        '--config <file>',
        'expectations of this file (default: wiretape.check.yaml in this folder)',
      ).conflicts('noConfig'),
    )
    .option('--no-config', 'without wiretape.check.yaml')
    .option('--list-rules', 'print every rule and end')
    .option(
      '--report <kind=file>',
      'also write a report: json, sarif, junit, github, ctrf or markdown; repeatable',
      collect,
    )
    .option('--json', 'machine output')
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
    .summary('show what definitions and results cost in tokens')
    .description(
      'Prints what each tool, prompt and resource costs: its definition, which goes into every prompt, and its results. ' +
        'Tokens are estimated as characters / 4. Exits 1 when all definitions cost more than --max.',
    )
    .argument('<recording...>', 'recordings; all of them are one run')
    .option('--max <tokens>', 'how much all definitions may cost, as 20k')
    .option('--json', 'machine output')
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
