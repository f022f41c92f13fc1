#!/usr/bin/env node
import { readVersion } from './version.js'

const args = process.argv.slice(2)
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  // Asked for by scripts and by clients that look for the program: nothing else is loaded for it.
  process.stdout.write(`${readVersion()}\n`)
} else {
  const { runCommandLine } = await import('./command-line.js')
  process.exitCode = await runCommandLine(args)
}
