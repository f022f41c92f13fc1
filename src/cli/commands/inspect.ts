import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../program.js'
import type { InspectOptions } from '../run/inspect.js'

export function registerInspect(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('inspect')
    .summary('print a recording')
    .description('Prints what was said. Several files are merged by time and shown with their labels.')
    .argument('<file...>', 'recordings; - reads stdin')
    .option('-v, --verbose', 'payloads and stderr too')
    .option('--json', 'machine output')
    .option('--check', 'list what is wrong with the recording, and exit 1 if anything is')
    .action(async (files: string[], options: InspectOptions) => {
      const { runInspect } = await import('../run/inspect.js')
      outcome.code = await runInspect(files, options, io)
    })
}
