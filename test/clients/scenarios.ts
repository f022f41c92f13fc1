/** Scenarios of a version 1 client with several servers, and everything that the client sees. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js'
import { until, type Stage } from '../behaviour/stage.js'
import { answerRequests } from './answering-client.js'

/** All observations of a client about a server. */
export interface Seen {
  /** The outcome of each step: its value, or its error. */
  readonly outcomes: [step: string, outcome: unknown][]
  readonly sent: JSONRPCMessage[]
  readonly received: JSONRPCMessage[]
  readonly problems: string[]
  stderr: string
  closed: number
}

type Step = (name: string, run: () => Promise<unknown>) => Promise<void>
export type Scenario = (client: Client, step: Step, seen: Seen, stage: Stage) => Promise<void>

/** A transport that notes all messages. */
function noted(inner: Transport, seen: Seen): Transport {
  const outer: Transport = {
    start: () => inner.start(),
    close: () => inner.close(),
    send(message, options) {
      seen.sent.push(structuredClone(message))
      return inner.send(message, options)
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
  }
  inner.onmessage = (message) => {
    seen.received.push(structuredClone(message))
    outer.onmessage?.(message)
  }
  inner.onclose = () => {
    seen.closed += 1
    outer.onclose?.()
  }
  inner.onerror = (error) => {
    seen.problems.push(String(error))
    outer.onerror?.(error)
  }
  return outer
}

/** Starts `argv` on the stage as a client does, and plays the scenario. */
export async function talk(stage: Stage, argv: readonly string[], scenario: Scenario): Promise<Seen> {
  const transport = new StdioClientTransport({
    command: argv[0]!,
    args: argv.slice(1),
    cwd: stage.folder,
    env: { ...(stage.env as Record<string, string>), MEMORY_FILE_PATH: stage.path('memory.jsonl') },
    stderr: 'pipe',
  })
  let stderr = ''
  transport.stderr?.on('data', (chunk) => (stderr += String(chunk)))
  const seen = await talkOver(stage, transport, scenario)
  return { ...seen, stderr }
}

/** Plays the scenario over a transport that is not started yet. */
export async function talkOver(stage: Stage, transport: Transport, scenario: Scenario): Promise<Seen> {
  const seen: Seen = { outcomes: [], sent: [], received: [], problems: [], stderr: '', closed: 0 }
  const client = new Client(
    { name: 'test-client', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } },
  )
  answerRequests(client, 'sampled 🎞')
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: pathToFileURL(stage.path('files')).href, name: 'files' }],
  }))
  client.setNotificationHandler(LoggingMessageNotificationSchema, () => undefined)
  const step: Step = async (name, run) => {
    const outcome = await run().catch((error: unknown) => ({ error: String(error), ...(error as object) }))
    seen.outcomes.push([name, outcome])
  }
  await step('connect', () => client.connect(noted(transport, seen)))
  seen.outcomes.push([
    'server',
    [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()],
  ])
  await scenario(client, step, seen, stage)
  await step('close', () => client.close())
  return seen
}

const call =
  (client: Client, step: Step) =>
  (name: string, args: Record<string, unknown> = {}): Promise<void> =>
    step(`call ${name}`, () => client.callTool({ name, arguments: args }))

/**
 * Calls of `onprogress` are not compared: the client removes the handler when the response arrives. So a notification
 * that arrives together with it is dropped, with and without a recorder. The messages themselves are compared.
 */
const withProgress = (
  client: Client,
  step: Step,
  name: string,
  args: Record<string, unknown>,
): Promise<void> =>
  step(`call ${name} with progress`, () =>
    client.callTool({ name, arguments: args }, undefined, { onprogress: () => undefined }),
  )

/** The command line of a server in a package. */
export function packaged(name: string, ...args: string[]): string[] {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
  const bin = Object.values(JSON.parse(readFileSync(manifest, 'utf8')).bin as Record<string, string>)[0]!
  return [process.execPath, join(dirname(manifest), bin), ...args]
}

export const everything: Scenario = async (client, step, seen) => {
  const tool = call(client, step)
  // The server requests roots some time after its start; the id of that request depends on its other requests.
  await until('the server has our roots', () =>
    seen.received.some((message) => 'method' in message && message.method === 'notifications/message'),
  )
  await step('tools', () => client.listTools())
  await step('prompts', () => client.listPrompts())
  await step('resources', () => client.listResources())
  await step('templates', () => client.listResourceTemplates())
  await tool('echo', { message: 'ÅÄÖ ∀x∈ℝ 🎞\u2028 "\\" \u0000' })
  await tool('get-sum', { a: 19, b: 0.5 })
  await tool('get-tiny-image')
  await tool('get-structured-content', { location: 'Chicago' })
  await withProgress(client, step, 'trigger-long-running-operation', { duration: 0.2, steps: 4 })
  await step('prompt', () => client.getPrompt({ name: 'args-prompt', arguments: { city: 'Reykjavík' } }))
  await step('resource', () => client.readResource({ uri: 'demo://resource/dynamic/text/7' }))
  await step('subscribe', () => client.subscribeResource({ uri: 'demo://resource/dynamic/text/7' }))
  await step('unsubscribe', () => client.unsubscribeResource({ uri: 'demo://resource/dynamic/text/7' }))
  await step('complete', () =>
    client.complete({
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'E' },
    }),
  )
  await step('level', () => client.setLoggingLevel('error'))
  await tool('trigger-sampling-request', { prompt: 'What?', maxTokens: 10 })
  await tool('trigger-elicitation-request')
  await tool('get-roots-list')
  await tool('no-such-tool')
  await step('no such resource', () => client.readResource({ uri: 'demo://nothing' }))
  await step('ping', () => client.ping())
}

export const filesystem: Scenario = async (client, step, _, stage) => {
  const tool = call(client, step)
  await step('tools', () => client.listTools())
  const path = stage.path('files/file.txt')
  await tool('write_file', { path, content: 'one\r\ntwo 🎞\n'.repeat(20_000) })
  await tool('read_text_file', { path })
  await tool('list_directory', { path: stage.path('files') })
  await tool('read_text_file', { path: '/etc/hostname' })
  await step('roots changed', () => client.sendRootsListChanged())
  await tool('list_allowed_directories')
}

export const memory: Scenario = async (client, step) => {
  const tool = call(client, step)
  await step('tools', () => client.listTools())
  await tool('create_entities', {
    entities: [{ name: 'Ada', entityType: 'person', observations: ['counts'] }],
  })
  await tool('add_observations', { observations: [{ entityName: 'Ada', contents: ['writes'] }] })
  await tool('add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] })
  await tool('read_graph')
}

export const mini: Scenario = async (client, step) => {
  const tool = call(client, step)
  await tool('echo', { text: 'x'.repeat(300_000) })
  await tool('add', { a: 1, b: 2 })
  await tool('fail')
  await tool('tool-error')
  await withProgress(client, step, 'progress', { steps: 5 })
  for (let i = 0; i < 4; i += 1) await tool('ask')
  await step('at the same time', () =>
    Promise.all([9, 3, 6, 1].map((ms) => client.callTool({ name: 'slow', arguments: { ms } }))),
  )
  await step('cancelled', () => {
    const stop = new AbortController()
    const answer = client.callTool({ name: 'slow', arguments: { ms: 60_000 } }, undefined, {
      signal: stop.signal,
    })
    stop.abort('enough')
    return answer
  })
  await step('times out', () =>
    client.callTool({ name: 'slow', arguments: { ms: 60_000 } }, undefined, { timeout: 100 }),
  )
  await step('no such method', () => client.setLoggingLevel('debug'))
  await step('ping', () => client.ping())
}

/** Removes times, the only values that may differ. */
export function timeless(value: unknown): unknown {
  const text = JSON.stringify(value).replaceAll(/\d{1,2}:\d{2}:\d{2}(\.\d+)?/g, '<time>')
  return JSON.parse(text)
}

export const byText = (messages: readonly JSONRPCMessage[]): string[] =>
  messages.map((message) => JSON.stringify(timeless(message))).toSorted()
