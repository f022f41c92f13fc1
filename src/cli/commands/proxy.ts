import { InvalidArgumentError, Option, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import { recordFlags } from '../record-options.js'
import type { RecordOptions } from '../record-flag.js'
import { addReplayOptions, timeoutOption } from '../replay-options.js'
import type { ProxyExportOptions } from '../run/proxy-export.js'
import type { ProxyInspectOptions } from '../run/proxy-inspect.js'
import type { ProxyReplayOptions } from '../run/proxy-replay.js'
import type { ProxyStartOptions } from '../run/proxy-start.js'
import { optionOf } from './option-of.js'

/** The session workflow, with the commands and options of the session file's documentation. */
export function registerProxy(program: Command, io: Io, outcome: Outcome): void {
  const proxy = program
    .command('proxy')
    .summary('record, print, export and replay session files')
    .description(
      'The session workflow: record to a session file, print it, export it as evidence, replay it.',
    )
    .addHelpText(
      'after',
      `
Examples:
  wiretape proxy start --target-command "node server.js" --session-file s.json
  wiretape proxy inspect --session-file s.json
  wiretape proxy export --session-file s.json --output evidence.json
  wiretape proxy replay --session-file s.json --target-command "node v2.js"

Run \`wiretape proxy <command> --help\` for details.`,
    )
    .helpCommand(false)
  registerStart(proxy, io, outcome)
  registerInspect(proxy, io, outcome)
  registerExport(proxy, io, outcome)
  registerProxyReplay(proxy, io, outcome)
}

function registerStart(proxy: Command, io: Io, outcome: Outcome): void {
  const command = proxy
    .command('start')
    .summary('record a server to a session file')
    .description(
      'Starts the server and records everything between it and the client that started wiretape, like record. ' +
        'On a terminal it shows the screen: clients get a URL, `s` saves the session file, `?` lists the keys. ' +
        'The command is split into words like in a POSIX shell, and run without a shell.',
    )
    .addOption(transportOption('--transport', 'transport of the server').default('stdio'))
    .option('--target-command <command>', 'the server command, as one text (stdio)')
    .option('--target-url <url>', 'the URL of the server (streamable-http, sse)')
    .option('--listen-port <port>', 'port for HTTP clients, on 127.0.0.1 (default: a free port)')
    .addOption(
      transportOption(
        '--listen-transport',
        'transport of the clients (default: that of the server; on a terminal streamable-http)',
      ),
    )
    .action(async (options: ProxyStartOptions & RecordOptions) => {
      const { runProxyStart } = await import('../run/proxy-start.js')
      outcome.code = await runProxyStart(options, io)
    })
  for (const flag of recordFlags) if (!ofRecord.includes(flag.key)) command.addOption(optionOf(flag))
  // Declared after --intercept: alone, it would make holding the default.
  command.option('--no-intercept', 'hold nothing (default)')
  command.addHelpText(
    'after',
    `
The session file is saved during the session, at most every 30 s, and at its end.
On the screen, s saves it at once to a path that you choose.

Examples:
  wiretape proxy start --target-command "python server.py" --session-file s.json`,
  )
}

const transports = ['stdio', 'streamable-http', 'sse']

/** Takes the names in any case. */
function transportOption(flag: string, help: string): Option {
  const option = new Option(`${flag} <transport>`, help).choices(transports)
  return option.argParser((said) => {
    const known = transports.find((transport) => transport === said.toLowerCase())
    if (known === undefined) throw new InvalidArgumentError(`Allowed choices are ${transports.join(', ')}.`)
    return known
  })
}

/** Options of `record` only. */
const ofRecord: readonly string[] = [
  'config',
  'server',
  'url',
  'forward',
  'only',
  'skip',
  'caDir',
  'bridge',
  'header',
]

function registerInspect(proxy: Command, io: Io, outcome: Outcome): void {
  proxy
    .command('inspect')
    .summary('print a session file')
    .description('Prints a session, one line per message. Reads every format that wiretape knows.')
    .requiredOption('--session-file <file>', 'the session file; - reads stdin')
    .option('-v, --verbose', 'print payloads too')
    .addHelpText('after', '\nExamples:\n  wiretape proxy inspect --session-file s.json -v')
    .action(async (options: ProxyInspectOptions) => {
      const { runProxyInspect } = await import('../run/proxy-inspect.js')
      outcome.code = await runProxyInspect(options, io)
    })
}

function registerExport(proxy: Command, io: Io, outcome: Outcome): void {
  const command = proxy
    .command('export')
    .summary('write a session to a new file')
    .description('Writes a session to another file, with your notes in its metadata.')
    .requiredOption('--session-file <file>', 'the session; any format that wiretape reads; - reads stdin')
    .requiredOption('--output <file>', 'the output file; an existing one becomes FILE.bak; - is stdout')
    .option('--output-format <format>', 'json (a session file), or the id of another format', 'json')
    .option('--compact', 'write each payload on one line')
    .action(async (options: ProxyExportOptions) => {
      const { runProxyExport } = await import('../run/proxy-export.js')
      outcome.code = await runProxyExport(options, io)
    })
  for (const flag of recordFlags) {
    if (['target', 'note', 'meta'].includes(flag.key)) command.addOption(optionOf(flag))
  }
  command.addHelpText(
    'after',
    `
Examples:
  wiretape proxy export --session-file s.json --output evidence.json --note no.7`,
  )
}

function registerProxyReplay(proxy: Command, io: Io, outcome: Outcome): void {
  const command = proxy
    .command('replay')
    .summary('send a session to a live server and compare')
    .description(
      "Sends the recorded client's messages to a live server, one after the other, and compares the responses " +
        'with the recorded ones. Exits 0 if all match, 1 if not.',
    )
    .requiredOption('--session-file <file>', 'the session; any format that wiretape reads; - reads stdin')
    .option('--target-command <command>', 'the server command, as one text')
    .option('--target-url <url>', 'the URL of the server')
    .option('--output <file>', 'write the results to this file')
    .addOption(timeoutOption())
    .option('--no-handshake', 'do not add a handshake if the session has none')
  addReplayOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  wiretape proxy replay --session-file s.json --target-command "node v2.js"`,
    )
    .action(async (options: ProxyReplayOptions) => {
      const { runProxyReplay } = await import('../run/proxy-replay.js')
      outcome.code = await runProxyReplay(options, io)
    })
}
