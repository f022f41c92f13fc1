import { Command, CommanderError } from 'commander'
import { WiretapeError } from '../model/index.js'
import { registerAttach } from './commands/attach.js'
import { registerReload } from './commands/reload.js'
import { registerCall } from './commands/call.js'
import { registerCheck, registerCost } from './commands/check.js'
import { registerCodegen } from './commands/codegen.js'
import { registerCollect } from './commands/collect.js'
import { registerConvert } from './commands/convert.js'
import { registerImport, registerTrace } from './commands/import.js'
import { registerDiff } from './commands/diff.js'
import { registerCompletion } from './commands/completion.js'
import { registerExplain } from './commands/explain.js'
import { registerDoctor } from './commands/doctor.js'
import { registerInstall, registerStatus, registerUninstall } from './commands/install.js'
import { registerInspect } from './commands/inspect.js'
import { registerLs } from './commands/ls.js'
import { registerMcp } from './commands/mcp.js'
import { registerMock } from './commands/mock.js'
import { registerPin } from './commands/pin.js'
import { registerProxy } from './commands/proxy.js'
import { registerPrune } from './commands/prune.js'
import { registerRecord } from './commands/record.js'
import { registerReplay } from './commands/replay.js'
import { registerRun } from './commands/run.js'
import { registerSearch } from './commands/search.js'
import { registerShip } from './commands/ship.js'
import { registerSql } from './commands/sql.js'
import { registerStats } from './commands/stats.js'
import { registerTail } from './commands/tail.js'
import { registerRecover } from './commands/recover.js'
import { registerUi } from './commands/ui.js'
import { registerRules } from './commands/rules.js'
import { exitCode } from './exit-codes.js'
import type { Io } from './io.js'
import { readVersion } from './version.js'
import type { Outcome } from './outcome.js'

/**
 * Parses a command line and runs its command. Returns the exit status.
 *
 * @throws WiretapeError for errors of users or in files
 */
export async function runProgram(args: readonly string[], io: Io): Promise<number> {
  const outcome: Outcome = { code: exitCode.done }
  if (args.length === 0) {
    const { runHome } = await import('./run/home.js')
    return runHome(io)
  }
  const program = createProgram(io, outcome)
  try {
    await program.parseAsync(args, { from: 'user' })
    return outcome.code
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return exitCode.done
    const { command, name } = namedCommand(program, args)
    throw usageError(error, name, await misspelled(error, command, args))
  }
}

/** `wiretape proxy start`: the leading words that name commands. */
function namedCommand(program: Command, args: readonly string[]): { command: Command; name: string } {
  let command = program
  let name = 'wiretape'
  for (const arg of args) {
    const next = command.commands.find((known) => known.name() === arg)
    if (!next) break
    command = next
    name += ` ${arg}`
  }
  return { command, name }
}

/** The parser reports a missing option before it detects that the user misspelled it. */
async function misspelled(
  error: CommanderError,
  command: Command,
  args: readonly string[],
): Promise<string | undefined> {
  if (error.code !== 'commander.missingMandatoryOptionValue') return undefined
  const known = command.options.flatMap(({ long }) => (long === undefined ? [] : [long]))
  const given = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)
  const flag = given
    .map((arg) => arg.split('=', 1)[0]!)
    .find((arg) => arg.startsWith('--') && ![...known, '--help'].includes(arg))
  if (flag === undefined) return undefined
  const { nearestTo } = await import('../filter/index.js')
  const near = nearestTo(flag, known)
  return `unknown option '${flag}'${near === undefined ? '' : ` (Did you mean ${near}?)`}`
}

function createProgram(io: Io, outcome: Outcome): Command {
  const program = new Command('wiretape')
    .description(
      'Records the messages between an MCP client and an MCP server, byte for byte, and lets you inspect, edit, replay and compare them.',
    )
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .enablePositionalOptions()
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Examples:
  wiretape record -- npx -y @modelcontextprotocol/server-everything
  wiretape ls
  wiretape inspect tape.jsonl

Run \`wiretape <command> --help\` for details.`,
    )
  for (const register of [
    registerRecord,
    registerProxy,
    registerInspect,
    registerConvert,
    registerMock,
    registerImport,
    registerTrace,
    registerCall,
    registerReplay,
    registerRun,
    registerDiff,
    registerCheck,
    registerCost,
    registerExplain,
    registerPin,
    registerCodegen,
    registerLs,
    registerSearch,
    registerStats,
    registerSql,
    registerCollect,
    registerPrune,
    registerShip,
    registerTail,
    registerAttach,
    registerReload,
    registerRecover,
    registerUi,
    registerMcp,
    registerRules,
    registerInstall,
    registerUninstall,
    registerStatus,
    registerDoctor,
    registerCompletion,
  ]) {
    register(program, io, outcome)
  }
  for (const command of program.commands.filter((known) => pagedCommands.has(known.name()))) {
    command.option('--no-pager', 'do not use a pager').hook('preAction', () => {
      if (!isForPrograms(command.opts())) io.page()
    })
  }
  for (const command of allCommands(program)) {
    command
      .helpOption('-h, --help', 'print this help')
      .exitOverride()
      .configureHelp({ helpWidth: Math.min(io.columns ?? 80, 100) })
      .configureOutput({ writeOut: (text) => void io.write(text), writeErr: () => undefined })
  }
  return program
}

/** Commands with lists that may exceed a screen. */
const pagedCommands = new Set(['inspect', 'search', 'stats', 'ls', 'diff', 'check', 'cost', 'explain'])

/** Whether the options disable the pager or select output for programs. */
function isForPrograms(options: Record<string, unknown>): boolean {
  const { pager, json, jsonl, raw, format, report } = options
  if (pager === false || json === true || jsonl === true || raw !== undefined) return true
  if (format === 'tsv' || format === 'jsonl') return true
  return Array.isArray(report) && report.some((kind) => String(kind).endsWith('=-'))
}

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)]
}

/** The parser's message as one line. */
function usageError(error: CommanderError, command: string, instead?: string): WiretapeError {
  if (error.code === 'commander.help') {
    return new WiretapeError('usage', 'which command?', { hint: `${command} --help lists them` })
  }
  const message = instead ?? error.message.replace(/^error: /, '').replaceAll('\n', ' ')
  return new WiretapeError('usage', message, { cause: error, hint: `see ${command} --help` })
}
