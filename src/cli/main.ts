#!/usr/bin/env node
import fs from 'node:fs'
import module from 'node:module'

keepCompiledCode(`${import.meta.dirname}/code`)
const args = process.argv.slice(2)
try {
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
    const { printVersion } = await import('./print-version.js')
    printVersion()
  } else {
    const { runCommandLine } = await import('./command-line.js')
    process.exitCode = await runCommandLine(args)
  }
} catch (error) {
  // Loading a module needs a descriptor too, so this file has no static imports of ours.
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EMFILE' && code !== 'ENFILE') throw error
  fs.writeSync(2, 'wiretape: too many open files (ulimit -n shows the limit)\n')
  process.exitCode = 2
}

/**
 * Keeps V8's compiled code between runs where Node can (22.8 and newer): commands start a fifth sooner. The folder is
 * beside the program, so that only an owner of the program can change the code, and it goes with the program.
 */
function keepCompiledCode(folder: string): void {
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown }
  if (!enableCompileCache) return
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch {
    // The folder exists, or cannot be made: Node then keeps nothing.
  }
  enableCompileCache(folder)
}
