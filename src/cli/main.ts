#!/usr/bin/env node
import fs from 'node:fs'

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
