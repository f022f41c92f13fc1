import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { RulesCheckOptions } from '../run/rules-check.js'

export function registerRules(program: Command, io: Io, outcome: Outcome): void {
  const rules = program
    .command('rules')
    .summary('check rules that hold, drop or change messages')
    .description(
      'Rules hold, drop, delay, change or answer messages while they are recorded (docs/rules.md).',
    )
    .helpCommand(false)
  rules
    .command('check')
    .summary('check a rules file and describe what it does')
    .description(
      'Reads rules files like `record --rules` and prints what each rule matches and does. Exits 1 if a ' +
        'file is wrong, and prints where, and what was expected there.',
    )
    .argument('<file...>', 'rules files, YAML or JSON; - is stdin')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Example:
  wiretape rules check rules.yaml`,
    )
    .action(async (files: string[], options: RulesCheckOptions) => {
      const { runRulesCheck } = await import('../run/rules-check.js')
      outcome.code = await runRulesCheck(files, options, io)
    })
}
