import { WiretapeError } from '../model/index.js'
import { tablesOfBuild } from '../proxy/index.js'
import { useRedactionTables } from '../redaction/index.js'
import { exitCode } from './exit-codes.js'
import { createIo, type Io } from './io.js'
import { isLaunched, runUnrecorded } from './launched.js'
import { parseRecordArgs } from './record-options.js'

/** Runs one command line. Returns the exit status; never throws for errors of users or in files. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  useRedactionTables(tablesOfBuild)
  let io: Io
  try {
    io = createIo()
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    process.stderr.write(`wiretape: ${error.message} (${error.hint})\n`)
    return exitCode.usage
  }
  const code = await run(args, io)
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

async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    const recording = args[0] === 'record' ? parseRecordArgs(args.slice(1)) : undefined
    if (recording) {
      const { runRecord } = await import('./run/record.js')
      return await runRecord(recording.command, recording.options, io)
    }
    const { runProgram } = await import('./program.js')
    return await runProgram(args, io)
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    await io.complain(error.message, isLaunched ? 'nothing is recorded' : error.hint)
    return (await runUnrecorded(args)) ?? exitCode.usage
  }
}
