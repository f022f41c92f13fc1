import { Argument, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'

export function registerCompletion(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('completion')
    .summary('print a shell completion script')
    .description('Prints a script for your shell that completes the commands and options of wiretape.')
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'after',
      `
Examples:
  bash:  wiretape completion bash >> ~/.bashrc
  zsh:   wiretape completion zsh > "\${fpath[1]}/_wiretape"
  fish:  wiretape completion fish > ~/.config/fish/completions/wiretape.fish`,
    )
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { runCompletion } = await import('../run/completion.js')
      outcome.code = await runCompletion(shell, program, io)
    })
}
