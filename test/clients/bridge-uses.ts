/** Uses of servers by clients, to be compared with and without a bridge between them. */
import { Client as ModernClient, type Transport as ModernTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { until, type Stage } from '../behaviour/stage.js'
import { createAnsweringClient } from './answering-client.js'
import { everythingOnStdio } from './everything.js'

export function overStdio(stage: Stage, argv: readonly string[]): StdioClientTransport {
  const env = stage.env as Record<string, string>
  return new StdioClientTransport({ command: argv[0]!, args: argv.slice(1), env, stderr: 'ignore' })
}

let direct: Promise<unknown[]> | undefined

/** Outcomes of server-everything without a bridge. */
export function useDirectly(stage: Stage): Promise<unknown[]> {
  return (direct ??= use(overStdio(stage, everythingOnStdio)))
}

/** Everything that a client and a server of its kind can request of each other. */
export async function use(transport: Transport): Promise<unknown[]> {
  const client = createAnsweringClient()
  const outcomes: unknown[] = []
  const step = async (run: () => Promise<unknown>): Promise<void> => {
    outcomes.push(await run().catch((error: unknown) => String(error)))
  }
  const tool = (name: string, args: Record<string, unknown> = {}): Promise<void> =>
    step(() => client.callTool({ name, arguments: args }))
  await client.connect(transport)
  outcomes.push(client.getServerVersion(), client.getServerCapabilities())
  await step(() => client.listTools())
  await tool('echo', { message: 'ÅÄÖ 🎞\u2028' })
  await tool('trigger-sampling-request', { prompt: 'x', maxTokens: 5 })
  await tool('trigger-elicitation-request')
  const progress: unknown[] = []
  const long = { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } }
  await step(() => client.callTool(long, undefined, { onprogress: (report) => progress.push(report) }))
  // The SDK drops a progress notification that arrives together with the response.
  outcomes.push(progress.length >= 3)
  const stop = new AbortController()
  const hanging = { ...long, arguments: { duration: 60, steps: 600 } }
  await step(() =>
    client.callTool(hanging, undefined, { signal: stop.signal, onprogress: () => stop.abort('enough') }),
  )
  await tool('no-such-tool')
  await step(() => client.readResource({ uri: 'demo://nothing' }))
  await step(() => client.ping())
  await client.close()
  return outcomes
}

export async function useModern(transport: ModernTransport): Promise<unknown[]> {
  const client = new ModernClient(
    { name: 'test-client', version: '2.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { ok: true } }))
  let changes = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1))
  await client.connect(transport)
  const outcomes: unknown[] = [client.getServerVersion(), await client.listTools()]
  const call = (name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    client.callTool({ name, arguments: args }).catch((error: unknown) => String(error))
  outcomes.push(await call('echo', { text: 'ÅÄÖ', place: 'Malmö' }), await call('book', { what: 'a table' }))
  // The SDK drops a notification that arrives together with the response; `slow` sends its own earlier.
  outcomes.push(await client.callTool({ name: 'steps' }, { onprogress: () => undefined }))
  const stop = new AbortController()
  const slow = { signal: stop.signal, onprogress: () => stop.abort('enough') }
  outcomes.push(await client.callTool({ name: 'slow' }, slow).catch((error: unknown) => String(error)))
  const subscription = await client.listen({ toolsListChanged: true })
  outcomes.push(subscription.honoredFilter, await call('grow'))
  await until('the change is announced', () => changes > 0)
  await subscription.close()
  outcomes.push(await call('grown'), await call('no-such-tool'))
  await client.close()
  return JSON.parse(JSON.stringify(outcomes).replaceAll('sdk-modern-http', 'sdk-modern'))
}
