import { WiretapeError } from '../model/index.js'
import { tablesOfBuild } from '../proxy/index.js'
import { useRedactionTables } from '../redaction/index.js'
import { exitCode } from './exit-codes.js'
import { createIo, type Io } from './io.js'
import { isLaunched, noteLaunch, runUnrecorded } from './launched.js'
import type { FirstStart } from './run/first-start.js'

/**
 * Runs one command line. Returns the exit status; never throws for errors of users or in files.
 *
 * @param first the arguments of `record`, and its server if it is started already
 */
export async function runCommandLine(args: readonly string[], first?: FirstStart): Promise<number> {
  noteLaunch()
  useRedactionTables(tablesOfBuild)
  let io: Io
  try {
    io = createIo()
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    process.stderr.write(`wiretape: ${error.message} (${error.hint})\n`)
    return exitCode.usage
  }
  const code = await run(args, io, first)
  const failure = await io.close()
  if (!failure) return code
  const message = `cannot write to stdout: ${failure.reason}`
  if (failure.of === 'wiretape') {
    await io.complain(message)
    return exitCode.usage
  }
  await io.complain(message, 'the stdout of the server was closed too')
  return code
}

async function run(args: readonly string[], io: Io, first: FirstStart | undefined): Promise<number> {
  try {
    if (first) {
      const { runRecord } = await import('./run/record.js')
      const { command, options } = first.recording
      return await runRecord(command, options, io, first.server)
    }
    const { runProgram } = await import('./program.js')
    return await runProgram(args, io)
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    await first?.server?.abandon()
    await io.complain(error.message, isLaunched() ? 'nothing is recorded' : error.hint)
    return (await runUnrecorded(args)) ?? exitCode.usage
  }
}
