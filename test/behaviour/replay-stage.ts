import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { plainEnv, wiretape, type Run } from './run-cli.js'
import { readMessages } from '../fixtures/servers/json-lines.mjs'
import { cli } from './stage.js'

type Message = { id?: unknown; method?: string; [name: string]: unknown }

/** Responses of the tests' servers, the used members only. */
export interface Answer {
  readonly result: {
    readonly nextCursor: string
    readonly requestState: string
    readonly content: readonly { readonly text: string }[]
  }
}

/** A client that sends its messages one by one, each after the response to the one before. */
export interface Client {
  /** Responses to the server's requests, by method. */
  readonly answers?: Readonly<Record<string, object>>
  readonly messages: readonly (Message | ((last: Answer) => Message))[]
}

export interface ReplayStage {
  readonly folder: string
  path(name: string): string
  /** Records a conversation with a server on a tape of that name. */
  record(name: string, client: Client, server: readonly string[], ...options: string[]): Promise<void>
  run(...args: string[]): Promise<Run>
  close(): void
}

export function createReplayStage(): ReplayStage {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-replay-'))
  const path = (name: string): string => join(folder, name)
  return {
    folder,
    path,
    async record(name, client, server, ...options) {
      const out = path(`${name}.tapes`)
      await talk([process.execPath, cli, 'record', '--out', out, ...options, '--', ...server], client, folder)
      const [tape] = readdirSync(out)
      const { code, stderr } = await wiretape(['convert', join(out, tape!), path(name), '--force'], {
        cwd: folder,
      })
      if (code !== 0) throw new Error(stderr)
    },
    run: (...args) => wiretape(args, { cwd: folder }),
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export const call = (id: number, name: string, args: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})

export const opening: readonly Message[] = [
  {
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { roots: {} },
      clientInfo: { name: 'test', version: '1' },
    },
  },
  { method: 'notifications/initialized' },
]

/** Sends all messages to a program's stdin, and waits for its exit. */
export async function talk(argv: readonly string[], client: Client, cwd: string): Promise<void> {
  const child = spawn(argv[0]!, argv.slice(1), { cwd, env: plainEnv(), stdio: ['pipe', 'pipe', 'ignore'] })
  const closed = new Promise((done) => child.once('close', done))
  const say = (message: Message): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const waiting = new Map<unknown, (answer: Message) => void>()
  const hears = async (): Promise<void> => {
    for await (const message of readMessages(child.stdout) as AsyncIterable<Message>)
      if (message.method === undefined) waiting.get(message.id)?.(message)
      else if (message.id !== undefined) say({ id: message.id, ...client.answers?.[message.method] })
  }
  const heard = hears()
  let last: Message | undefined
  for (const next of client.messages) {
    const message = typeof next === 'function' ? next(last as unknown as Answer) : next
    const answered = new Promise<Message>((done) => waiting.set(message.id, done))
    say(message)
    if (message.id !== undefined) last = await answered
  }
  child.stdin.end()
  await heard
  await closed
}
