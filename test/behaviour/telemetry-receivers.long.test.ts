/** `record --otlp`: exports during a recording, over each transport and to receivers of all kinds. */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { attributesOf, countOf } from '../telemetry/receiver.mjs'
import { answerTo, call } from './mini-talk.js'
import { server, until } from './stage.js'
import { linesOfTape } from './tape-bytes.js'
import { calls, end, quick, useReceivers } from './telemetry-stage.js'

const { stage, receive, start } = useReceivers()

it('uses the OTEL variables: address, headers, compression, names and deltas', async () => {
  const receiver = await receive()
  const recorder = await start(['--otlp', 'env'], {
    ...quick,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta',
    OTEL_SERVICE_NAME: 'shop',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  })
  await recorder.send(call(1, 'echo', { text: 'x' }))
  await until('a report', () => receiver.metrics().length > 1)
  await end(recorder)
  const { headers, sent } = receiver.requests.find(({ signal }) => signal === 'traces')!
  expect(headers).toMatchObject({ 'x-key': 'a b', 'content-encoding': 'gzip' })
  expect(attributesOf(sent.resourceSpans[0].resource)).toMatchObject({
    'service.name': 'shop',
    'deployment.environment.name': 'test',
  })
  const reports = receiver.metrics()
  const counts = reports.map((report) => {
    const metric = report['mcp.server.operation.duration']
    if (metric) expect(metric.histogram.aggregationTemporality).toBe(1)
    return metric ? countOf(metric) : 0
  })
  expect(counts.reduce((a, b) => a + b)).toBe(2)
})

it('exports nothing if only unrelated variables are set', async () => {
  const receiver = await receive()
  await end(await start([], { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }))
  const disabled = { OTEL_SDK_DISABLED: 'true' }
  expect(await end(await start(['--otlp', receiver.url], disabled))).toContain('OTEL_SDK_DISABLED is true')
  expect(receiver.requests).toEqual([])
})

describe('a receiver', () => {
  const talkTo = async (url: string, env: NodeJS.ProcessEnv = quick): Promise<string> => {
    const recorder = await start(['--otlp', url], env)
    await recorder.send(calls.join(''))
    await answerTo(recorder, 4)
    const stderr = await end(recorder)
    expect(linesOfTape(stage.tape()).at(-1)).toMatchObject({ type: 'end' })
    return stderr
  }

  it('that is down costs nothing but its spans, which are counted', async () => {
    const unused = createServer().listen(0, '127.0.0.1')
    await new Promise((done) => unused.once('listening', done))
    const { port } = unused.address() as AddressInfo
    await new Promise((done) => unused.close(done))
    const stderr = await talkTo(`http://127.0.0.1:${port}`)
    expect(stderr).toMatch(
      /^wiretape: telemetry: 5 of 5 spans were not exported, the last metrics were not exported: connect ECONNREFUSED .*\(the recording is complete\)\n$/,
    )
  })

  it('that never answers is not waited for', async () => {
    const receiver = await receive(() => ({ silent: true }))
    expect(await talkTo(receiver.url)).toContain('5 of 5 spans were not exported')
  })

  it.each([429, 503])('that returns HTTP %i gets the same export again', async (status) => {
    const receiver = await receive((_, count) =>
      count === 0 ? { status, headers: { 'Retry-After': '0' } } : undefined,
    )
    expect(await talkTo(receiver.url)).toBe('')
    expect(receiver.spans()).toHaveLength(5)
    const [first, second] = receiver.requests.filter(({ signal }) => signal === 'traces')
    expect(second!.sent).toEqual(first!.sent)
    expect(countOf(receiver.metrics().at(-1)!['wiretape.telemetry.refusals'])).toBeGreaterThan(0)
  })

  it('that refuses gets no retry, and its message is printed', async () => {
    const receiver = await receive((signal) =>
      signal === 'traces'
        ? { status: 400, headers: { 'Content-Type': 'text/plain' }, body: 'no\nroom' }
        : undefined,
    )
    expect(await talkTo(receiver.url, {})).toBe(
      'wiretape: telemetry: 5 of 5 spans were not exported: HTTP 400: no room (the recording is complete)\n',
    )
    expect(receiver.requests.filter(({ signal }) => signal === 'traces')).toHaveLength(1)
    expect(countOf(receiver.metrics().at(-1)!['wiretape.telemetry.left_out'])).toBe(5)
  })

  it.each(['http/json', 'http/protobuf'])('that refuses a part over %s is reported', async (protocol) => {
    const receiver = await receive((signal) => (signal === 'traces' ? { rejected: 2 } : undefined))
    expect(await talkTo(receiver.url, { OTEL_EXPORTER_OTLP_PROTOCOL: protocol })).toBe(
      'wiretape: telemetry: 2 of 5 spans were not exported: too old (the recording is complete)\n',
    )
  })

  it('with a huge response body is not read to its end', async () => {
    const receiver = await receive(() => ({ body: 'x'.repeat(50_000_000) }))
    expect(await talkTo(receiver.url)).toBe('')
    expect(receiver.spans()).toHaveLength(5)
  })

  it('that is slow gets no more spans than the queue holds, and the rest is counted', async () => {
    const receiver = await receive((signal) => (signal === 'traces' ? { silent: true } : undefined))
    const recorder = await start(['--otlp', receiver.url], { ...quick, OTEL_BSP_MAX_QUEUE_SIZE: '10' })
    const many = Array.from({ length: 500 }, (_, i) => call(i, 'echo', { text: 'x' }))
    await recorder.send(many.join(''))
    await until('all passed', () => recorder.stdout().includes('"id":499,'))
    expect(await end(recorder)).toContain('501 of 501 spans were not exported')
    expect(linesOfTape(stage.tape()).filter(({ type }) => type === undefined)).toHaveLength(1_002)
  })
})

it.each([
  [['--otlp', 'localhost:4318'], '--otlp is not an http or https URL'],
  [['--otlp', 'http://user:secret@localhost:4318'], '--otlp has credentials'],
  [['--otlp', 'http://localhost:4318', '--otlp-protocol', 'grpc'], 'http/json or http/protobuf'],
  [['--otlp-payload'], '--otlp-payload requires --otlp'],
])('%j is refused before a server starts', async (options, words) => {
  const recorder = stage.start(stage.record(server('mini-mcp.mjs'), options))
  expect((await recorder.ended).exitCode).toBe(2)
  expect(recorder.stderr().toString()).toContain(words)
  expect(recorder.stderr().toString()).not.toContain('secret')
  expect(stage.tapes()).toEqual([])
})

it('exports continue from segment to segment', async () => {
  const receiver = await receive()
  const recorder = await start(['--otlp', receiver.url, '--max-bytes', '1kB'], quick)
  for (let id = 1; id <= 20; id += 1) await recorder.send(call(id, 'echo', { text: 'x'.repeat(200) }))
  await answerTo(recorder, 20)
  await end(recorder)
  expect(new Set(receiver.spans().map((span) => attributesOf(span)['jsonrpc.request.id'])).size).toBe(21)
  expect(countOf(receiver.metrics().at(-1)!['mcp.server.operation.duration'])).toBe(21)
})
