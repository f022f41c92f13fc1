import { Command, CommanderError } from 'commander'
import { WiretapeError } from '../model/index.js'
import { registerInspect } from './commands/inspect.js'
import { registerLs } from './commands/ls.js'
import { registerRecord } from './commands/record.js'
import { registerRecover } from './commands/recover.js'
import { exitCode } from './exit-codes.js'
import { createIo, type Io } from './io.js'
import { readVersion } from './version.js'

/** What a command's action leaves for the process to end with. */
export type Outcome = { code: number }

/** Runs one command line. Returns the exit status; never throws for what users or files do wrong. */
export async function runProgram(args: readonly string[]): Promise<number> {
  const io = createIo()
  const outcome: Outcome = { code: exitCode.done }
  const program = createProgram(io, outcome)
  try {
    await program.parseAsync(args, { from: 'user' })
    return outcome.code
  } catch (error) {
    return failed(error, io)
  }
}

function createProgram(io: Io, outcome: Outcome): Command {
  const program = new Command('wiretape')
    .description(
      'Records what an MCP client and an MCP server really said, byte for byte, and reads it back.',
    )
    .version(readVersion(), '-V, --version')
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .addHelpText(
      'after',
      '\nRecord a server:  wiretape record -- npx -y @modelcontextprotocol/server-everything\nRead it back:     wiretape ls, then wiretape inspect FILE',
    )
  for (const register of [registerRecord, registerInspect, registerLs, registerRecover]) {
    register(program, io, outcome)
  }
  for (const command of program.commands)
    command.exitOverride().configureOutput({ writeErr: () => undefined })
  return program
}

function failed(error: unknown, io: Io): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCode.done
    if (error.code === 'commander.help') {
      io.complain('which command?', 'wiretape --help lists them')
      return exitCode.usage
    }
    const [first = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
    io.complain(
      suggestion === undefined ? first : `${first} ${suggestion}`,
      'wiretape --help shows what there is',
    )
    return exitCode.usage
  }
  if (error instanceof WiretapeError) {
    io.complain(error.message, error.hint)
    return error.code === 'unwritable' ? exitCode.found : exitCode.usage
  }
  throw error
}
