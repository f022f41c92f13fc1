/** Runs the built command line to its end, with its own home folder. */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { cli, type Stage } from './stage.js'
import { isWarm, runWarm } from './warm-program.js'

export interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string | Uint8Array
  /** The command line is wrong, so nothing is served, recorded or started. */
  readonly isRefused?: boolean
}

export const fixtures = resolve(import.meta.dirname, '../fixtures/cli')

/** The environment without variables that affect colours. */
export function plainEnv(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _force, NO_COLOR: _no, NODE_OPTIONS: _options, ...env } = process.env
  return { ...env, ...more }
}

/** Runs a command. Where it makes no difference, reuses a process that ran earlier commands. */
export function wiretape(args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { input = '', cwd = fixtures, env = plainEnv(), isRefused = false } = options
  if (isWarm(args, env, input, isRefused)) return runWarm(args, cwd, env)
  return run([process.execPath, cli, ...args], options)
}

/** Runs commands in the folder of a stage, with its variables. */
export function wiretapeIn(stage: Stage): (...args: string[]) => Promise<Run> {
  return (...args) => wiretape(args, { cwd: stage.folder, env: plainEnv(stage.env) })
}

export function run(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { input = '', cwd = fixtures, env = plainEnv() } = options
  const child = spawn(argv[0]!, argv.slice(1), { cwd, env, stdio: 'pipe' })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((done, failed) => {
    child.once('error', failed)
    child.once('close', (code) =>
      done({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    )
  })
}

/** Runs a command on a terminal of `columns` cells, with the `script` of util-linux. The output includes stderr. */
export async function runOnTerminal(
  argv: readonly string[],
  columns: number,
  options: RunOptions = {},
): Promise<Run> {
  const command = argv.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  const shell = `stty cols ${columns} rows 40 && exec ${command}`
  const env = plainEnv({ TERM: 'xterm-256color', PAGER: 'cat', ...options.env })
  const result = await run(['script', '-qec', shell, '/dev/null'], { ...options, env })
  return { ...result, stdout: result.stdout.replaceAll('\r\n', '\n') }
}

/** Text without ANSI styles. */
export function unstyled(text: string): string {
  return text.replaceAll(/\u001b\[[\d;]*m/g, '')
}

/** Prints once why a test is skipped; returns whether it is. */
export function leftOut(unless: boolean, why: string): boolean {
  if (!unless) process.stderr.write(`left out: ${why}\n`)
  return !unless
}
