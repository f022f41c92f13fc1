import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { wiretapeIn } from '../behaviour/run-cli.js'
import { useStage } from '../behaviour/stage.js'

const stage = useStage()
const cli = wiretapeIn(stage)

/** A server's own request under the id of an open request of the client, and the client's response. */
const asked = [
  ['roots/list', { roots: [] }],
  ['sampling/createMessage', { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' }],
  ['elicitation/create', { action: 'decline' }],
] as const
const say = (message: object): object => ({ jsonrpc: '2.0', id: 1, ...message })
const called = { content: [{ type: 'text', text: 'done' }] }

it.each(
  asked.flatMap(([method, result]) => [
    [method, 'first', [say({ result }), say({ result: called })]] as const,
    [method, 'last', [say({ result: called }), say({ result })]] as const,
  ]),
)(
  '%s that is answered %s under an id of the client: the shape tells whose answer it is',
  async (method, _, answers) => {
    const messages = [say({ method: 'tools/call', params: { name: 't' } }), say({ method }), ...answers]
    writeFileSync(stage.path('lines.jsonl'), messages.map((each) => `${JSON.stringify(each)}\n`).join(''))
    writeFileSync(stage.path('list.json'), JSON.stringify(messages))
    for (const file of ['lines.jsonl', 'list.json']) {
      expect(await cli('inspect', '--check', file)).toMatchObject({ code: 0 })
    }
    // The tape has the sender of each message.
    await cli('convert', 'lines.jsonl', 'tape.jsonl')
    const lines = readFileSync(stage.path('tape.jsonl'), 'utf8').trimEnd().split('\n')
    const sent = lines.map((line) => JSON.parse(line) as { dir?: string; raw?: { result?: object } })
    const byDirection = (dir: string): unknown[] =>
      sent.filter((line) => line.dir === dir && line.raw?.result).map((line) => line.raw!.result)
    const answer = asked.find(([name]) => name === method)![1]
    expect([byDirection('in'), byDirection('out')]).toEqual([[answer], [called]])
  },
)

it('equivalent sessions of three transports import alike when one id is open on both sides', async () => {
  for (const [method, result] of asked) {
    const call = say({ method: 'tools/call', params: { name: 't', arguments: {} } })
    const messages = [call, say({ method }), say({ result }), say({ result: called })]
    writeFileSync(stage.path('lines.jsonl'), messages.map((each) => `${JSON.stringify(each)}\n`).join(''))
    writeFileSync(stage.path('list.json'), JSON.stringify({ events: messages }))
    const entries = [
      { timestamp_ms: 1, transport_context: {}, request: call },
      { timestamp_ms: 2, sse: { event: 'message', data: JSON.stringify(messages[1]) } },
      { timestamp_ms: 3, request: messages[2] },
      { timestamp_ms: 4, response: messages[3] },
    ]
    writeFileSync(stage.path('http.json'), JSON.stringify({ transport: 'streamable-http', entries }))
    const traces: string[][] = []
    for (const [file, format] of [
      ['lines.jsonl', 'jsonrpc'],
      ['list.json', 'inspector'],
      ['http.json', 'streamable-http'],
    ] as const) {
      const run = await cli('import', file, '--format', format, '--out-trace', `${format}.trace`)
      expect({ format, ...run }).toMatchObject({ format, code: 0 })
      const events = readFileSync(stage.path(`${format}.trace`), 'utf8')
        .trimEnd()
        .split('\n')
      traces.push(
        events
          .map((line) => JSON.parse(line))
          .filter(({ type }) => type === 'tool_call')
          .map(({ result }) => JSON.stringify(result)),
      )
    }
    expect(traces).toEqual([[JSON.stringify(called)], [JSON.stringify(called)], [JSON.stringify(called)]])
  }
})
