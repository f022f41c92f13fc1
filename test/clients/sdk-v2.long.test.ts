import { rmSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createStage, server, until } from '../behaviour/stage.js'
import { expectCorrelated, expectFaultless, messagesOf } from './tape-of.js'

const stage = createStage()
afterAll(() => stage.close())
beforeEach(() => rmSync(stage.out, { recursive: true, force: true }))

type Mode = 'auto' | { pin: '2026-07-28' }
type Outcomes = [step: string, outcome: unknown][]

async function talk(
  argv: readonly string[],
  mode: Mode,
  scenario: (
    client: Client,
    step: (name: string, run: () => Promise<unknown>) => Promise<void>,
  ) => Promise<void>,
): Promise<Outcomes> {
  const outcomes: Outcomes = []
  const client = new Client(
    { name: 'test-client', version: '2.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
  )
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { ok: true } }))
  const step = async (name: string, run: () => Promise<unknown>): Promise<void> => {
    const outcome = await run().catch((error: unknown) => ({ error: String(error), ...(error as object) }))
    outcomes.push([name, outcome ?? null])
  }
  const transport = new StdioClientTransport({
    command: argv[0]!,
    args: argv.slice(1),
    env: stage.env as Record<string, string>,
    stderr: 'ignore',
  })
  await step('connect', () => client.connect(transport))
  outcomes.push(['server', [client.getServerVersion(), client.getServerCapabilities()]])
  await scenario(client, step)
  await step('close', () => client.close())
  return outcomes
}

/**
 * Version 2 starts another process first to find the era of the server. That process has its own recording, the first.
 */
function mainTape(): string {
  const tapes = stage.tapes()
  expect(tapes).toHaveLength(2)
  expect(messagesOf(tapes[0]!).map(({ raw }) => raw.method)).toEqual(['server/discover', undefined])
  return tapes[1]!
}

describe('the official client, version 2, in the 2026-07-28 era', () => {
  it('sees the same with and without the recorder of a server of the official SDK', async () => {
    const scenario: Parameters<typeof talk>[2] = async (client, step) => {
      let changes = 0
      client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1))
      const tool = (name: string, args: Record<string, unknown> = {}): Promise<void> =>
        step(name, () => client.callTool({ name, arguments: args }))
      await step('tools', () => client.listTools())
      await tool('echo', { text: 'ÅÄÖ 🎞' })
      await tool('fail')
      await tool('book', { what: 'a table' })
      await step('steps', () => client.callTool({ name: 'steps' }, { onprogress: () => undefined }))
      await step('cancelled', () => {
        const stop = new AbortController()
        return client.callTool(
          { name: 'slow' },
          { signal: stop.signal, onprogress: () => stop.abort('enough') },
        )
      })
      await step('listen', async () => {
        const subscription = await client.listen({ toolsListChanged: true })
        await client.callTool({ name: 'grow' })
        await until('the change is announced', () => changes > 0)
        await subscription.close()
        return changes
      })
      await tool('grown')
      await tool('no-such-tool')
    }
    const mode = { pin: '2026-07-28' } as const
    const direct = await talk(server('sdk-modern.mjs'), mode, scenario)
    const recorded = await talk(stage.record(server('sdk-modern.mjs')), mode, scenario)
    expect(recorded).toEqual(direct)
    expect(JSON.stringify(direct)).toContain('Booked a table')

    const tape = mainTape()
    const messages = messagesOf(tape)
    const cancelled = messages.filter(({ raw }) => raw.method === 'notifications/cancelled')
    const stopped = new Set(cancelled.map(({ raw }) => raw.params?.requestId))
    expect(stopped.size).toBe(2)
    expectCorrelated(messages.filter(({ raw }) => !stopped.has(raw.id)))
    const [first, retry] = messages.filter(({ raw }) => raw.params?.name === 'book')
    expect(retry!.linked).toEqual([{ kind: 'round', to: first!.id }])
    for (const message of cancelled) expect(message.linked?.[0]?.kind).toBe('cancel')
    const reports = messages.filter(({ raw }) => raw.method === 'notifications/progress')
    const slow = messages.find(({ raw }) => raw.params?.name === 'slow')!
    const steps = messages.find(({ raw }) => raw.params?.name === 'steps')!
    expect(reports.map(({ linked }) => linked?.[0]?.to)).toEqual([steps.id, steps.id, steps.id, slow.id])
    const announced = messages.filter(({ raw }) => raw.method === 'notifications/tools/list_changed')
    const listen = messages.find(({ raw }) => raw.method === 'subscriptions/listen')!
    expect(announced.at(-1)!.linked).toEqual([{ kind: 'subscription', to: listen.id }])
    await expectFaultless(tape)
  })

  it('sees the same with and without the recorder of a minimal server', async () => {
    const scenario: Parameters<typeof talk>[2] = async (client, step) => {
      await step('tools', () => client.listTools())
      await step('book', () => client.callTool({ name: 'book', arguments: { what: 'a room' } }))
      await step('no such tool', () => client.callTool({ name: 'nothing' }))
    }
    const mode = { pin: '2026-07-28' } as const
    const direct = await talk(server('modern-mcp.mjs'), mode, scenario)
    expect(await talk(stage.record(server('modern-mcp.mjs')), mode, scenario)).toEqual(direct)
    expect(JSON.stringify(direct)).toContain('Booked a room')
    const tape = mainTape()
    expectCorrelated(messagesOf(tape))
    await expectFaultless(tape)
  })

  it.each([
    ['modern', 'sdk-modern.mjs'],
    ['2025', 'mini-mcp.mjs'],
  ])('finds that the server is of the %s era with and without the recorder', async (_, name) => {
    const scenario: Parameters<typeof talk>[2] = async (client, step) => {
      await step('version', async () => client.getNegotiatedProtocolVersion())
      await step('tools', () => client.listTools())
    }
    const direct = await talk(server(name), 'auto', scenario)
    expect(await talk(stage.record(server(name)), 'auto', scenario)).toEqual(direct)
    expect(messagesOf(mainTape()).map(({ raw }) => raw.method)).toContain('tools/list')
  })
})
