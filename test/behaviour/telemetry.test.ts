/** `record --otlp`: exports during a recording, over each transport and to receivers of all kinds. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attributesOf, countOf, startReceiver } from '../telemetry/receiver.mjs'
import { createHttpStage, type HttpStage } from './http-stage.js'
import { answerTo, call } from './mini-talk.js'
import type { Loose } from '../formats/import-stage.js'
import { wiretape } from './run-cli.js'
import { server, until, type Actor } from './stage.js'

type Receiver = Awaited<ReturnType<typeof startReceiver>>

let stage: HttpStage
const receivers: Receiver[] = []
beforeEach(() => void (stage = createHttpStage()))
afterEach(async () => {
  await stage.close()
  for (const receiver of receivers.splice(0)) {
    expect(receiver.faults).toEqual([])
    await receiver.close()
  }
})

async function receive(...args: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...args)
  receivers.push(receiver)
  return receiver
}

const hello = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
})}\n`
const quick = { OTEL_BSP_SCHEDULE_DELAY: '10', OTEL_METRIC_EXPORT_INTERVAL: '50' }

async function start(options: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Actor> {
  const recorder = stage.start(stage.record(server('mini-mcp.mjs'), options), {
    env: { ...stage.env, ...env },
  })
  await recorder.send(hello)
  await answerTo(recorder, 'hello')
  return recorder
}

async function end(recorder: Actor): Promise<string> {
  recorder.stdin.end()
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
  return recorder.stderr().toString()
}

const named = (receiver: Receiver, name: string): Loose => receiver.spans().find((span) => span.name === name)
const calls = [call(1, 'echo', { text: 'x' }), call(2, 'fail'), call(3, 'tool-error'), call(4, 'nope')]

describe.each(['http/json', 'http/protobuf'])('over %s', (protocol) => {
  it('sends spans and histograms while it records, equal to those of convert', async () => {
    const receiver = await receive()
    const recorder = await start(['--otlp', receiver.url, '--otlp-protocol', protocol], quick)
    await recorder.send(calls.join(''))
    await until('they are there before the end', () => named(receiver, 'tools/call nope'))
    await until('so are metrics', () => receiver.metrics().length > 0)
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const parent = `"_meta":{"traceparent":"00-${trace}-b7ad6b7169203331-01"}`
    await recorder.send(call(5, 'slow', { ms: 600_000 }).replace('"name"', `${parent},"name"`))
    await recorder.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}\n')
    await until('it is cancelled', () => named(receiver, 'tools/call slow'))
    await recorder.send(call(6, 'slow', { ms: 600_001 }))
    expect(await end(recorder)).toBe('')

    expect(attributesOf(named(receiver, 'tools/call echo'))).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'echo',
      'mcp.protocol.version': '2025-11-25',
      'network.transport': 'pipe',
    })
    expect(named(receiver, 'tools/call fail').status).toEqual({ code: 2, message: 'This tool always fails' })
    expect(attributesOf(named(receiver, 'tools/call tool-error'))['error.type']).toBe('tool_error')
    const slow = receiver
      .spans()
      .filter(({ name }) => name === 'tools/call slow')
      .map(attributesOf)
    expect(named(receiver, 'tools/call slow')).toMatchObject({
      traceId: trace,
      parentSpanId: 'b7ad6b7169203331',
    })
    expect(slow[0]).toMatchObject({ 'wiretape.cancelled': true })
    expect(slow[1]).toMatchObject({ 'wiretape.unanswered': true })
    expect(JSON.stringify(receiver.requests)).not.toContain('gen_ai.tool.call')
    const last = receiver.metrics().at(-1)!
    expect(countOf(last['mcp.server.operation.duration'])).toBe(5)
    expect(countOf(last['mcp.client.session.duration'])).toBe(1)
    expect(countOf(last['wiretape.recorder.messages'])).toBe(13)
    expect(countOf(last['wiretape.telemetry.spans'])).toBe(8)
    expect(countOf(last['wiretape.telemetry.left_out'])).toBe(0)

    const converted = await wiretape(['convert', '--to', 'otlp-json', stage.tape(), '-'], {
      cwd: stage.folder,
    })
    const [of] = JSON.parse(converted.stdout).resourceSpans
    expect(receiver.spans()).toEqual(of.scopeSpans[0].spans)
    expect(receiver.requests.find(({ sent }) => sent.resourceSpans)!.sent.resourceSpans[0].resource).toEqual(
      of.resource,
    )
  })
})

it('sends payloads on request, redacted like the recording', async () => {
  const receiver = await receive()
  const recorder = await start(['--otlp', receiver.url, '--otlp-payload'])
  const secret = `ghp_${'a1B2'.repeat(9)}`
  await recorder.send(call(1, 'echo', { text: secret, more: 'plain' }))
  await answerTo(recorder, 1)
  await end(recorder)
  const attributes = attributesOf(named(receiver, 'tools/call echo'))
  expect(attributes['gen_ai.tool.call.arguments']).toContain('plain')
  expect(attributes['gen_ai.tool.call.result']).toContain('content')
  expect(attributesOf(named(receiver, 'initialize'))['input.value']).toContain('2025-11-25')
  expect(JSON.stringify(receiver.requests)).not.toContain(secret)
})
