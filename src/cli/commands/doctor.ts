import type { Command } from 'commander'
import { parseTimeout } from '../duration-option.js'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { DoctorOptions } from '../run/doctor.js'

export function registerDoctor(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('doctor')
    .summary('find out why a server does not start or respond')
    .description(
      'Checks a server step by step, and says which step fails and how to fix it. Without a server, checks this machine and the configuration of its MCP clients.',
    )
    .argument('[words...]', 'the name of a server in a client, or, after --, a server command')
    .option('--url <url>', 'an HTTP server')
    .option(
      '--header <name: value...>',
      'with --url: send these headers with every request; ${NAME} comes from the environment',
    )
    .option('--timeout <time>', 'timeout of each response (default: 30s)', parseTimeout)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  wiretape doctor
  wiretape doctor github
  wiretape doctor -- npx -y @modelcontextprotocol/server-everything
  wiretape doctor --url https://mcp.example.com/mcp`,
    )
    .action(async (words: string[], options: DoctorOptions) => {
      const { runDoctor } = await import('../run/doctor.js')
      outcome.code = await runDoctor(words, options, io)
    })
}
