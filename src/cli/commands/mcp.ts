import { InvalidArgumentError, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { McpOptions } from '../run/mcp.js'

const usualBudget = 8000
const leastBudget = 2000

export function registerMcp(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('mcp')
    .summary('serve recordings to agents, as an MCP server')
    .description(
      'Runs an MCP server for the recordings of your data folder, on stdio, or over HTTP with --listen. Its tools only read; --allow-run adds tools that act. Everything they return is redacted.',
    )
    .option('--budget <bytes>', 'maximum bytes of one result', budget, usualBudget)
    .option('--allow-run', 'add tools that start recorded servers: call_tool, replay')
    .option(
      '--listen <host:port>',
      'serve over HTTP at this address, for this machine only; port 0 picks a free port',
    )
    .addHelpText(
      'after',
      `
Examples:
  wiretape mcp
  wiretape mcp --budget 20000
  wiretape mcp --listen 127.0.0.1:8090`,
    )
    .action(async (options: McpOptions) => {
      const { runMcp } = await import('../run/mcp.js')
      outcome.code = await runMcp(options, io)
    })
}

function budget(text: string): number {
  const bytes = /^\d{1,8}$/.test(text) ? Number(text) : 0
  if (bytes >= leastBudget) return bytes
  throw new InvalidArgumentError(`Use a whole number of bytes, at least ${leastBudget}.`)
}
