/** The time that a person takes is not the server's, and a summary tells what people and rules did. */
import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { attach } from '../behaviour/attach.js'
import { answerTo, call, endOf, ping } from '../behaviour/mini-talk.js'
import { wiretape } from '../behaviour/run-cli.js'
import { cli, printed, server, type Actor, useStage } from '../behaviour/stage.js'
import { identity } from '../fixtures/identity.mjs'

const stage = useStage()

const rules = `rules:
  - { name: canned, when: 'tool:canned is:request', respond: { result: { content: [] } } }
`

/** A person answers one request, drops one, changes one and injects one; a rule answers one. */
async function intercepted(): Promise<Actor> {
  writeFileSync(stage.path('rules.yaml'), rules)
  const options = ['--intercept', '--rules', stage.path('rules.yaml')]
  const recorder = stage.start(stage.record(server('mini-mcp.mjs'), options))
  const screen = await attach(stage)
  await recorder.send(ping(1))
  const first = await screen.held()
  await screen.tell({ type: 'answer', message: first['message'], result: '{}' })
  await answerTo(recorder, 1)
  await recorder.send(ping(2))
  const second = await screen.held(2)
  await screen.tell({ type: 'drop', message: second['message'] })
  await recorder.send(call(3, 'a'))
  const third = await screen.held(3)
  await screen.tell({ type: 'edit', message: third['message'], text: call(3, 'b').trim() })
  const fourth = await screen.held(4)
  await screen.tell({ type: 'forward', message: fourth['message'] })
  await answerTo(recorder, 3)
  await screen.tell({ type: 'hold', on: false })
  await recorder.send(call(4, 'canned'))
  await answerTo(recorder, 4)
  const text = '{"jsonrpc":"2.0","id":"w","method":"ping"}'
  await screen.tell({ type: 'inject', direction: 'client_to_server', text, answer: 'pass' })
  await answerTo(recorder, 'w')
  return recorder
}

it('inspect counts held, changed, dropped and injected messages, and no latency of a person', async () => {
  await endOf(stage, await intercepted())
  const { stdout } = await wiretape(['inspect', stage.tape()])
  expect(stdout).toMatch(
    / · 5 held · 1 edited · 1 dropped · 2 answered by wiretape · 3 injected\nserver answered in /,
  )
  expect(stdout).toMatch(/0 +\S+ +1 +40 B {2}→ ping · answered by wiretape\n/)
  expect(stdout).toMatch(/ping · dropped\n/)
  const json = await wiretape(['inspect', '--json', stage.tape()])
  const { recordings, messages } = JSON.parse(json.stdout) as {
    recordings: { counts: object }[]
    messages: { facts: string[]; latencyUs: number | null; request: object | null }[]
  }
  expect(recordings[0]!.counts).toMatchObject({
    held: 5,
    modified: 1,
    dropped: 3,
    answeredHere: 2,
    injected: 3,
    waiting: 0,
  })
  const answers = messages.filter(({ request }) => request !== null)
  expect(answers.map(({ facts, latencyUs }) => [facts.includes('injected'), latencyUs === null])).toEqual([
    [true, true],
    [false, false],
    [true, true],
    [false, false],
  ])
  const csv = await wiretape(['convert', stage.tape(), '--to', 'csv', '-'])
  const header = csv.stdout.split('\n')[0]!.split(',')
  const latency = header.findIndex((name) => name.startsWith('latency'))
  const told = csv.stdout.split('\n').filter((line) => line.split(',')[latency] !== '').length
  expect(latency).toBeGreaterThan(0)
  expect(told).toBe(1 + 2 + 1)
})

it("tail shows no latency for a person's response", async () => {
  const recorder = await intercepted()
  const tail = stage.start([process.execPath, cli, 'tail'])
  await printed(tail, 'result of #0 ping · sent by wiretape')
  await endOf(stage, recorder)
  await tail.ended
  expect(tail.stdout().toString()).toMatch(/1 +\S+ +1 +36 B {2}← result of #0 ping/)
})

it('inspect names all clients of an HTTP server, and --json the conversation of each message', async () => {
  const line = (seq: number, conv: string, name: string): string =>
    JSON.stringify({
      t: '2026-01-01T00:00:00.000Z',
      dir: 'in',
      raw: {
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', clientInfo: { name, version: '1' } },
      },
      id: `m${seq}`,
      seq,
      us: seq,
      conv,
    })
  const meta = {
    v: 1,
    type: 'meta',
    startedAt: '2026-01-01T00:00:00.000Z',
    label: 'two',
    command: [],
    mcpTapVersion: '1',
    wiretape: { ...identity, transport: 'streamable-http', url: 'http://h/mcp' },
  }
  const lines = [JSON.stringify(meta), line(0, 'a', 'first'), line(1, 'b', 'second'), line(2, 'a', 'first')]
  const input = `${lines.join('\n')}\n`
  const { stdout } = await wiretape(['inspect', '-'], { input })
  expect(stdout).toContain('clients first 1, second 1')
  const { messages, recordings } = JSON.parse(
    (await wiretape(['inspect', '--json', '-'], { input })).stdout,
  ) as {
    messages: { conversation: string }[]
    recordings: { sessions: { clients: object[] }[] }[]
  }
  expect(messages.map(({ conversation }) => conversation)).toEqual(['a', 'b', 'a'])
  expect(recordings[0]!.sessions[0]!.clients).toHaveLength(2)
})
