// @ts-check
/**
 * The baseline: a stdio proxy that records nothing, with nothing but Node's own modules.
 * Usage: node bare-pipe.mjs COMMAND [ARG…]
 */
import { spawn } from 'node:child_process'

const [command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
process.stdin.pipe(child.stdin)
child.stdout.pipe(process.stdout)
child.on('exit', (code) => {
  process.exitCode = code ?? 1
})
