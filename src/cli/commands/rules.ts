import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { RulesCheckOptions } from '../run/rules-check.js'

export function registerRules(program: Command, io: Io, outcome: Outcome): void {
  const rules = program
    .command('rules')
    .summary('check rules that change messages on their way')
    .description(
      'Rules hold, drop, delay, change or answer messages while they are recorded (docs/rules.md).',
    )
    .helpCommand(false)
  rules
    .command('check')
    .summary('say what the rules of a file do, or what is wrong with them')
    .description(
      'Reads a rules file as `record --rules` does. Says what each rule is about and what it does; or where the ' +
        'file is wrong and what was expected there, and exits 1.',
    )
    .argument('<file...>', 'rules files, YAML or JSON; - is stdin')
    .option('--json', 'machine output')
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
