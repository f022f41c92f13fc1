/** Runs commands in a process that has already loaded the program (`warm-program.mjs`). */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { cli } from './stage.js'
import type { Run } from './run-cli.js'

/**
 * Commands that serve, record or follow until they are stopped, and commands that start threads. Each runs in a process
 * of its own.
 */
const alone = new Set('attach collect mcp mock record ship sql tail ui'.split(' '))
/** Variables that Node or the program reads at its start. */
const readAtStart = ['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'WIRETAPE_LAUNCHED']

/** A run of all tests, including the long ones, starts a process for every command. */
const isOff = process.env['WIRETAPE_ALL'] !== undefined

/**
 * Whether a command behaves the same there. It reads no input, as the process has none.
 *
 * @param isRefused The command line is wrong, so nothing is served, recorded or started.
 */
export function isWarm(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input: string | Uint8Array,
  isRefused: boolean,
): boolean {
  if (isOff || input.length > 0 || mayReadInput(args)) return false
  // Node reads these certificates at its start.
  const hasOurCertificates = env['NODE_EXTRA_CA_CERTS'] === process.env['NODE_EXTRA_CA_CERTS']
  return (
    (isRefused || !isAlone(args)) &&
    hasOurCertificates &&
    readAtStart.every((name) => env[name] === undefined)
  )
}

function isAlone([command = '', part, ...rest]: readonly string[]): boolean {
  if (part === '--help' || rest.at(-1) === '--help') return false
  return alone.has(command) || (command === 'proxy' && part === 'start')
}

/** After a path, `-` is the output of `convert`. */
function mayReadInput(args: readonly string[]): boolean {
  return args.some((word, i) => word === '-' && !(args[0] === 'convert' && isPath(args, i - 1)))
}

/** Neither the command, nor an option, nor what may be the value of one. */
function isPath(args: readonly string[], at: number): boolean {
  return at > 0 && !args[at]!.startsWith('-') && !args[at - 1]!.startsWith('-')
}

let idle: ChildProcess | undefined

/** Runs one command; a second one at the same time gets a process of its own. */
export async function runWarm(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Run> {
  const program = idle ?? start()
  idle = undefined
  const mark = `\u0000${randomUUID()}\u0000`
  const ended = new Promise<number | null>((done, failed) => {
    const finish = (code: number | null): void => {
      program.removeAllListeners()
      done(code)
    }
    program.once('error', failed)
    program.once('exit', finish)
    program.once('message', ({ code }: { code: number }) => finish(code))
  })
  const read = [program.stdout!, program.stderr!].map((stream) => readTo(stream, mark))
  program.send({ args, cwd, env, mark })
  const code = await ended
  const [stdout, stderr] = await Promise.all(read)
  if (program.exitCode === null && program.signalCode === null) idle = program
  return { code, stdout: stdout!, stderr: stderr! }
}

/** Ends with this process, and does not keep it alive. */
function start(): ChildProcess {
  const host = resolve(import.meta.dirname, 'warm-program.mjs')
  const child = spawn(process.execPath, [host, cli], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: {} })
  child.unref()
  child.channel?.unref()
  for (const stream of [child.stdout!, child.stderr!]) (stream as unknown as { unref(): void }).unref()
  return child
}

/** The text before the mark, or all of it if the stream ends. */
function readTo(stream: Readable, mark: string): Promise<string> {
  const chunks: Buffer[] = []
  return new Promise((done) => {
    const end = (): void => {
      stream.off('data', take).off('end', end)
      const text = Buffer.concat(chunks).toString()
      done(text.endsWith(mark) ? text.slice(0, -mark.length) : text)
    }
    const take = (chunk: Buffer): void => {
      chunks.push(chunk)
      const last = Buffer.concat(chunks.slice(-2))
      if (last.subarray(-mark.length).toString() === mark) end()
    }
    stream.on('data', take).once('end', end)
  })
}
