import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import { recordFlags } from '../record-options.js'
import type { RecordOptions } from '../record-flag.js'
import { optionOf } from './option-of.js'

export function registerRecord(program: Command, io: Io, outcome: Outcome): void {
  const command = program
    .command('record')
    .summary('record a server')
    .description(
      'Records everything between an MCP client and a stdio server (a command), an HTTP server (--url) or all HTTP ' +
        'servers of a client (--forward). Put it in front of the server command of your client.',
    )
    .argument('[command...]', 'the server command, after -- or from the first word that is not an option')
    .usage(
      '[options] -- <command> [args...]\n       wiretape record [options] --url <url>\n' +
        '       wiretape record [options] --config <file> [--server <name>]\n' +
        '       wiretape record [options] --forward -- <client> [args...]\n' +
        '       wiretape record [options] --bridge --url <url>\n' +
        '       wiretape record [options] --listen <host:port> -- <command> [args...]',
    )
    .passThroughOptions()
    .action(async (command: string[], options: RecordOptions) => {
      const { runRecord } = await import('../run/record.js')
      outcome.code = await runRecord(command, options, io)
    })
  for (const flag of recordFlags) command.addOption(optionOf(flag))
  command.addHelpText(
    'after',
    `
Exits as the server does: its status, 128 + signal, 127 when it cannot be started.

Examples:
  wiretape record -- npx -y @modelcontextprotocol/server-everything
  wiretape record --out tapes --label files -- node server.js /data
  wiretape record --url https://example.com/mcp
  wiretape record --forward -- node client.js

In the configuration of an MCP client:
  "command": "wiretape", "args": ["record", "--", "node", "server.js"]`,
  )
}
