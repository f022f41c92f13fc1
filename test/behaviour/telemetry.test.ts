/** `record --otlp`: exports during a recording, over each transport and to receivers of all kinds. */
import { describe, expect, it } from 'vitest'
import { isLong } from '../long.js'
import { attributesOf, countOf } from '../telemetry/receiver.mjs'
import { answerTo, call } from './mini-talk.js'
import type { Loose } from '../formats/import-stage.js'
import { wiretape } from './run-cli.js'
import { until } from './stage.js'
import { type Receiver, calls, end, quick, useReceivers } from './telemetry-stage.js'

const { stage, receive, start } = useReceivers()

const named = (receiver: Receiver, name: string): Loose => receiver.spans().find((span) => span.name === name)

const protocols = isLong ? ['http/json', 'http/protobuf'] : ['http/protobuf']

describe.each(protocols)('over %s', (protocol) => {
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
