#!/usr/bin/env node
import fs from 'node:fs'
import module from 'node:module'
import { keepCompiledCode } from '../compiled-code/index.js'
import type { FirstStart } from './run/first-start.js'

/** Resolves when the command has ended. */
export const finished = main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  keepCode(`${import.meta.dirname}/code`, args[0] === 'record')
  let first: FirstStart | undefined
  try {
    if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
      const { printVersion } = await import('./print-version.js')
      printVersion()
    } else {
      if (args[0] === 'record') first = (await import('./run/first-start.js')).startFirst(args.slice(1))
      const { runCommandLine } = await import('./command-line.js')
      process.exitCode = await runCommandLine(args, first)
    }
  } catch (error) {
    // Loading a module needs a descriptor too, so this file imports none of ours that is not bundled into it.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EMFILE' && code !== 'ENFILE') throw error
    fs.writeSync(2, 'wiretape: too many open files (ulimit -n shows the limit)\n')
    process.exitCode = 2
  } finally {
    await first?.server?.abandon()
  }
}

/**
 * Keeps V8's compiled code between runs: commands start a fifth sooner. The folder is beside the program, so that only
 * an owner of the program can change the code, and it goes with the program.
 */
function keepCode(folder: string, isRecorder: boolean): void {
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown }
  if (!enableCompileCache && !isRecorder) return
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch {
    // The folder exists, or cannot be made: nothing is kept then.
  }
  if (enableCompileCache) enableCompileCache(folder)
  else keepCompiledCode(folder)
}
