// @ts-check
/**
 * A minimal recorder: a bare pipe that appends each line to a file, with the time and the direction. It does not parse,
 * pair or redact messages, and lines that are not written yet are lost when it crashes.
 * Usage: node line-pipe.mjs FILE COMMAND [ARG…]
 */
import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'

const [file = '', command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const log = createWriteStream(file)

/** @param {import('node:stream').Readable} source @param {'in' | 'out'} dir */
function note(source, dir) {
  createInterface({ input: source, crlfDelay: Infinity }).on('line', (line) => {
    log.write(`{"t":"${new Date().toISOString()}","dir":"${dir}","raw":${line}}\n`)
  })
}

process.stdin.pipe(child.stdin)
child.stdout.pipe(process.stdout)
note(process.stdin, 'in')
note(child.stdout, 'out')
child.on('exit', (code) => {
  process.exitCode = code ?? 1
})
