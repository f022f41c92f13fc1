/** The stage of a behaviour test: a private folder, and all processes that the test started, down to grandchildren. */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { afterEach, beforeEach } from 'vitest'
import { closeAll, makePipes } from './pipes.js'

export const cli = resolve(import.meta.dirname, '../../dist/bin/wiretape.js')

/** A server of test/fixtures/servers with its arguments. */
export function server(name: string, ...args: readonly string[]): string[] {
  return [process.execPath, resolve(import.meta.dirname, '../fixtures/servers', name), ...args]
}

export interface Ending {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

/** A process of the stage. */
export interface Actor {
  readonly child: ChildProcess
  readonly pid: number
  readonly stdin: Writable
  readonly output: Readable
  readonly errors: Readable
  /** Output read so far. */
  stdout(): Buffer
  stderr(): Buffer
  /** Resolves when the process has read the bytes, or never will. */
  send(bytes: string | Uint8Array): Promise<void>
  /** Starts reading stdout and stderr, if `read` was false at the start. */
  read(): void
  /** Resolves when the process has exited and its output is read to the end, if it is read at all. */
  readonly ended: Promise<Ending>
}

export interface StartOptions {
  /** Node's own pipes are socket pairs; shells and other clients use real pipes. @default sockets */
  readonly over?: 'sockets' | 'pipes'
  readonly stdio?: StdioOptions
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** @default true */
  readonly read?: boolean
  readonly uid?: number
  readonly gid?: number
  /** In a session of its own, without a terminal. */
  readonly detached?: boolean
}

export interface Stage {
  readonly folder: string
  /** The folder for the tapes of `record`. */
  readonly out: string
  readonly env: NodeJS.ProcessEnv
  path(name: string): string
  start(argv: readonly string[], options?: StartOptions): Actor
  /** The command line of `record` with these options. */
  recordWith(...options: readonly string[]): string[]
  /** The command line that records `serverCommand`. */
  record(serverCommand: readonly string[], options?: readonly string[]): string[]
  /** Paths of the tapes, oldest first. */
  tapes(): string[]
  /** The only tape. */
  tape(): string
  /** Pids of running processes, including those that processes of this stage started (Linux). */
  running(): number[]
  /** Pids of those that are `program`, such as a file of test/fixtures/servers, run by Node (Linux). */
  runningAs(program: string): number[]
  /** Ends all running processes and removes the folder. */
  close(): Promise<void>
}

const markName = 'WIRETAPE_TEST_STAGE'

/** A stage of its own for each test. */
export function useStage(): Stage {
  return anewForEach(createStage)
}

/** An object that is made anew before each test, and closed after it. */
export function anewForEach<T extends { close(): Promise<void> }>(make: () => T): T {
  const object = {} as T
  beforeEach(() => void Object.assign(object, make()))
  afterEach(() => object.close())
  return object
}

export function createStage(): Stage {
  const folder = mkdtempSync(join(os.tmpdir(), 'wiretape-stage-'))
  const mark = randomUUID()
  const out = join(folder, 'tapes')
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: folder,
    XDG_DATA_HOME: join(folder, 'data'),
    [markName]: mark,
  }
  // Tests must not use the machine's HTTP proxy.
  for (const name of Object.keys(env)) if (/^(https?|all|no)_proxy$/i.test(name)) delete env[name]
  const actors: Actor[] = []
  const tapes = (): string[] =>
    existsSync(out)
      ? readdirSync(out)
          .toSorted()
          .map((name) => join(out, name))
      : []
  const recordWith = (...options: readonly string[]): string[] => [
    process.execPath,
    cli,
    'record',
    '--out',
    out,
    ...options,
  ]
  const running = (): number[] => processesWith(`${markName}=${mark}`)
  return {
    folder,
    out,
    env,
    path: (name) => join(folder, name),
    start(argv, options = {}) {
      const actor = startActor(argv, { cwd: folder, env, ...options })
      actors.push(actor)
      return actor
    },
    recordWith,
    record: (serverCommand, options = []) => [...recordWith(...options), '--', ...serverCommand],
    tapes,
    tape() {
      const [path, ...others] = tapes()
      if (path === undefined || others.length > 0) throw new Error(`${tapes().length} tapes, not one`)
      return path
    },
    running,
    runningAs: (program) =>
      running().filter((pid) => readIfThere(`/proc/${pid}/cmdline`).split('\0')[1]?.endsWith(`/${program}`)),
    async close() {
      for (const { child, stdin, output, errors } of actors) {
        child.kill('SIGKILL')
        for (const stream of [stdin, output, errors]) stream?.destroy()
      }
      for (const pid of running()) kill(pid)
      await Promise.all(actors.map(({ ended }) => ended))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function startActor(
  argv: readonly string[],
  { read = true, over = 'sockets', ...options }: StartOptions,
): Actor {
  const pipes = over === 'pipes' ? makePipes() : undefined
  const child = spawn(argv[0]!, argv.slice(1), { stdio: pipes?.theirs ?? 'pipe', ...options })
  if (pipes) closeAll(pipes.theirs)
  const [stdin, output, errors] = pipes?.ours ?? [child.stdin!, child.stdout!, child.stderr!]
  const collected: [Buffer[], Buffer[]] = [[], []]
  let reading = false
  const readAll = (): void => {
    if (reading) return
    reading = true
    output?.on('data', (chunk: Buffer) => collected[0].push(chunk))
    errors?.on('data', (chunk: Buffer) => collected[1].push(chunk))
  }
  const ended = new Promise<Ending>((done) => {
    child.once('error', () => done({ exitCode: null, signal: null }))
    child.once('exit', (exitCode, signal) => {
      // Remaining output is read first; an unread stream is not waited for.
      const open = reading ? [output, errors].filter((stream) => stream && !stream.closed) : []
      let left = open.length
      const closed = (): void => {
        left -= 1
        if (left <= 0) done({ exitCode, signal })
      }
      for (const stream of open) stream.once('close', closed)
      if (left === 0) closed()
    })
  })
  for (const stream of [stdin, output, errors]) stream?.on('error', () => undefined)
  if (read) readAll()
  return {
    child,
    pid: child.pid ?? -1,
    stdin,
    output,
    errors,
    stdout: () => Buffer.concat(collected[0]),
    stderr: () => Buffer.concat(collected[1]),
    send: (bytes) => new Promise((done) => stdin.write(bytes, () => done())),
    read: readAll,
    ended,
  }
}

type Truthy<T> = T | undefined | false | 0 | ''

/** Polls until `check` returns a value, and returns that value. */
export async function until<T>(
  what: string,
  check: () => Truthy<T> | Promise<Truthy<T>>,
  withinMs = 30_000,
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await check()
    if (found) return found
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await new Promise((done) => setTimeout(done, 5))
  }
}

/** Bytes that a process has written so far, to any file or pipe (Linux). */
export function writtenBytes(pid: number): number {
  return Number(/^wchar: (\d+)/m.exec(readIfThere(`/proc/${pid}/io`))?.[1] ?? 0)
}

/** Waits until a growing number has stopped growing, from some value on, and returns it. */
export async function settled(read: () => number, from = 1): Promise<number> {
  let last = { value: read(), since: performance.now() }
  return until('it stands still', () => {
    const value = read()
    if (value !== last.value || value < from) last = { value, since: performance.now() }
    return performance.now() - last.since > 500 ? value : undefined
  })
}

/** The folder that `wiretape ui` lists, made if it is missing. */
export function recordingsOf({ env }: Stage): string {
  const folder = join(env['XDG_DATA_HOME']!, 'wiretape/recordings')
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Resolves when `actor` has printed `text` on its stdout. */
export async function printed(actor: Actor, text: string): Promise<void> {
  await until(`it prints ${JSON.stringify(text)}`, () => actor.stdout().includes(text))
}

/** The address that `wiretape ui` prints, once it serves. */
export async function viewerAddress(actor: Actor): Promise<string> {
  await printed(actor, 'Ctrl+C')
  return /viewer: (\S+)/.exec(actor.stdout().toString())![1]!
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // A zombie, whose parent has not collected it yet, counts as ended.
  return !/^State:\s+[ZX]/m.test(readIfThere(`/proc/${pid}/status`))
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has exited.
  }
}

function processesWith(variable: string): number[] {
  if (!existsSync('/proc/self/environ')) return []
  return readdirSync('/proc')
    .filter(
      (name) => /^\d+$/.test(name) && readIfThere(`/proc/${name}/environ`).split('\0').includes(variable),
    )
    .map(Number)
    .filter(isRunning)
}

export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Headers of a Streamable HTTP client's POST. */
export const postHeaders = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
}

/** A recorder that runs, with a request and its response on the tape. */
export async function recordPing(stage: Stage): Promise<{ actor: Actor; tape: string }> {
  const actor = stage.start(stage.record(server('mini-mcp.mjs')))
  await actor.send('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  const tape = await until('the response is on the tape', () => {
    const [path] = stage.tapes()
    return path !== undefined && readFileSync(path, 'utf8').includes('"result"') && path
  })
  return { actor, tape }
}
