/** OpenTelemetry exports, checked with the official definitions. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TapeRecord } from '../../src/model/index.js'
import { foreignMeta } from '../../src/formats/foreign/records.js'
import { otlpWithPayloads } from '../../src/formats/index.js'
import { createMeter, durationBounds } from '../../src/formats/otlp/meter.js'
import { readExport } from '../telemetry/otlp-judge.mjs'
import { adopted, recordingOf, write } from './codec-stage.js'
import { sessions } from './codec-sessions.js'
import { said, startedAt } from './said.js'
import type { Loose } from './import-stage.js'

const meta = foreignMeta({ startedAt, transport: 'stdio', label: 'files' })
const remote = foreignMeta({
  startedAt,
  transport: 'streamable-http',
  label: 'web',
  url: 'https://example.com/mcp',
})

const ask = (id: string, method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
const call = (id: string, name = 'search', more = ''): string =>
  ask(id, 'tools/call', `{"name":${JSON.stringify(name)},"arguments":{"q":"x"}${more}}`)
const result = (id: string, value = '{}'): string => `{"jsonrpc":"2.0","id":${id},"result":${value}}`
const begin = ask('0', 'initialize', '{"protocolVersion":"2025-11-25"}')
const end: TapeRecord = { type: 'end', t: '2026-08-01T10:01:00.000Z', exitCode: 0, durationMs: 60_000 }

const contentTypes = { json: 'application/json', proto: 'application/x-protobuf' }

async function exported(
  signal: 'traces' | 'metrics',
  encoding: 'json' | 'proto',
  records: readonly TapeRecord[],
): Promise<Loose> {
  const id = `otlp-${signal === 'metrics' ? 'metrics-' : ''}${encoding}`
  const { bytes } = await write(id, await adopted(records))
  return readExport(signal, contentTypes[encoding], bytes)
}

/** Both encodings, which have to say the same. */
async function spansOf(records: readonly TapeRecord[]): Promise<Loose[]> {
  const json = await exported('traces', 'json', records)
  const proto = await exported('traces', 'proto', records)
  expect(proto).toEqual(json)
  return json.resourceSpans[0].scopeSpans[0].spans
}

async function metricsOf(records: readonly TapeRecord[]): Promise<Loose[]> {
  const json = await exported('metrics', 'json', records)
  const proto = await exported('metrics', 'proto', records)
  expect(proto).toEqual(json)
  return json.resourceMetrics[0].scopeMetrics[0].metrics
}

const attributes = (of: Loose): Record<string, unknown> =>
  Object.fromEntries(of.attributes.map(({ key, value }: Loose) => [key, Object.values(value)[0]]))

const talk = [
  remote,
  said('in', 1_000, begin),
  said('out', 5_000, result('0', '{"protocolVersion":"2025-11-25"}')),
  said('in', 10_000, call('1'), { heldMs: 100 }),
  said('out', 200_000, '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no\\ud800 such tool"}}'),
  said('in', 300_000, ask('2', 'prompts/get', '{"name":"p"}')),
  said('out', 301_000, result('2')),
  said('in', 400_000, ask('3', 'resources/read', '{"uri":"file:///a"}')),
  said('out', 401_000, result('3')),
  said('in', 500_000, call('4')),
  said('out', 501_000, result('4', '{"isError":true}')),
  end,
]

describe('spans', () => {
  it('are read by the official definitions, the same from JSON and protobuf', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const parent = `,"_meta":{"traceparent":"00-${trace}-b7ad6b7169203331-01","tracestate":"a=b"}`
    const [, asked, prompt, resource, , child] = await spansOf([
      ...talk.slice(0, -1),
      said('in', 600_000, call('5', 'search', parent)),
      said('out', 601_000, result('5')),
      end,
    ])
    expect(attributes(asked)).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'jsonrpc.request.id': '1',
      'mcp.protocol.version': '2025-11-25',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'server.address': 'example.com',
      'server.port': '443',
      'error.type': '-32602',
      'rpc.response.status_code': '-32602',
      'wiretape.held_ms': '100',
    })
    expect(asked.status).toEqual({ code: 2, message: 'no\ufffd such tool' })
    expect(prompt).toMatchObject({ name: 'prompts/get p', kind: 2 })
    expect(attributes(prompt)).toMatchObject({ 'gen_ai.prompt.name': 'p' })
    expect(resource.name).toBe('resources/read')
    expect(attributes(resource)).toMatchObject({ 'mcp.resource.uri': 'file:///a' })
    expect(child).toMatchObject({
      traceId: trace,
      parentSpanId: 'b7ad6b7169203331',
      traceState: 'a=b',
      flags: 0x301,
    })
  })

  it('name the version of HTTP where wiretape recorded it, and tools for OpenInference', async () => {
    const own = { ...remote, wiretape: { ...remote.wiretape!, version: '0.1.0' } }
    const [asked, prompt] = (await spansOf([own, ...talk.slice(1)])).slice(1)
    expect(attributes(asked)).toMatchObject({
      'network.protocol.version': '1.1',
      'openinference.span.kind': 'TOOL',
    })
    expect(attributes(prompt)).not.toHaveProperty('openinference.span.kind')
    const [imported] = (await spansOf(talk)).slice(1)
    expect(attributes(imported)).not.toHaveProperty('network.protocol.version')
  })

  it('of any recording are valid in both encodings', async () => {
    await fc.assert(
      fc.asyncProperty(sessions({ http: true }), async (records) => {
        await spansOf(records)
        await metricsOf(records)
      }),
      { numRuns: 10 },
    )
  })

  it('end where their request is cancelled', async () => {
    const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
    const spans = await spansOf([meta, said('in', 1_000, call('1')), said('in', 50_000, cancel), end])
    expect(spans.map(({ name }) => name)).toEqual(['tools/call search', 'notifications/cancelled'])
    expect(attributes(spans[0])).toMatchObject({ 'wiretape.cancelled': true })
    expect(BigInt(spans[0].endTimeUnixNano) - BigInt(spans[0].startTimeUnixNano)).toBe(49_000_000n)
  })

  it('have payloads only where they are asked for', async () => {
    const secret = 'payload-of-a-user'
    const records = await adopted([
      meta,
      said(
        'in',
        1,
        call('1', 'search', `,"arguments":{"q":"${secret}"}`).replace('"arguments":{"q":"x"},', ''),
      ),
      said('out', 2, result('1', `{"content":"${secret}"}`)),
      said('in', 3, ask('2', 'resources/list', '{"cursor":"c"}')),
      said('out', 4, result('2', '{"resources":[]}')),
      said('in', 5, call('3', 'long', `,"x":1`)),
      said('out', 6, result('3', `{"content":"${'z'.repeat(70_000)}"}`)),
    ])
    for (const id of ['otlp-json', 'otlp-proto'])
      expect(Buffer.from((await write(id, records)).bytes).includes(secret)).toBe(false)
    for (const format of otlpWithPayloads) {
      const losses: string[] = []
      const parts: Uint8Array[] = []
      for await (const part of format.write(recordingOf(records), ({ message }) => losses.push(message)))
        parts.push(part)
      const type = format.id === 'otlp-json' ? contentTypes.json : contentTypes.proto
      const [tool, list, long] = readExport('traces', type, Buffer.concat(parts)).resourceSpans[0]
        .scopeSpans[0].spans
      expect(attributes(tool)).toMatchObject({
        'gen_ai.tool.call.arguments': `{"q":"${secret}"}`,
        'gen_ai.tool.call.result': `{"content":"${secret}"}`,
      })
      expect(attributes(list)).toMatchObject({
        'input.value': '{"cursor":"c"}',
        'input.mime_type': 'application/json',
        'output.value': '{"resources":[]}',
      })
      expect(attributes(long)['gen_ai.tool.call.result']).toHaveLength(65_536)
      expect(losses).toContain('payloads are truncated to 65536 characters: 1')
    }
  })
})

describe('the histograms of durations', () => {
  it('have the names, unit, bounds and attributes of the conventions', async () => {
    const metrics = await metricsOf(talk)
    expect(metrics.map(({ name, unit }) => [name, unit])).toEqual([
      ['mcp.client.operation.duration', 's'],
      ['mcp.server.operation.duration', 's'],
      ['mcp.client.session.duration', 's'],
      ['mcp.server.session.duration', 's'],
    ])
    const [client, server, clientSession, serverSession] = metrics
    for (const { histogram } of metrics) {
      expect(histogram.aggregationTemporality).toBe(2)
      for (const { explicitBounds, bucketCounts } of histogram.dataPoints) {
        expect(explicitBounds).toEqual([...durationBounds])
        expect(bucketCounts).toHaveLength(15)
      }
    }
    const failed = (metric: Loose): Loose =>
      metric.histogram.dataPoints.find((point: Loose) => attributes(point)['error.type'] === '-32602')
    const common = {
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'mcp.protocol.version': '2025-11-25',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'error.type': '-32602',
      'rpc.response.status_code': '-32602',
    }
    expect(attributes(failed(server))).toEqual(common)
    expect(attributes(failed(client))).toEqual({
      ...common,
      'server.address': 'example.com',
      'server.port': '443',
    })
    // Held for 100 ms: the client waited for that, the server did not take it.
    expect(failed(client).sum).toBeCloseTo(0.19, 6)
    expect(failed(server).sum).toBeCloseTo(0.09, 6)
    expect(failed(server).bucketCounts[3]).toBe('1')
    expect(attributes(serverSession.histogram.dataPoints[0])).toEqual({
      'mcp.protocol.version': '2025-11-25',
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
    })
    expect(attributes(clientSession.histogram.dataPoints[0])).toMatchObject({
      'server.address': 'example.com',
    })
    expect(clientSession.histogram.dataPoints[0].sum).toBeCloseTo(59.999, 6)
  })

  it('have no session where the protocol has none', async () => {
    const modern = ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}'
    const metrics = await metricsOf([
      meta,
      said('in', 1, call('1', 'search', modern)),
      said('out', 2, result('1')),
      end,
    ])
    expect(metrics.map(({ name }) => name)).toEqual([
      'mcp.client.operation.duration',
      'mcp.server.operation.duration',
    ])
    const [point] = metrics[0].histogram.dataPoints
    expect(attributes(point)).toMatchObject({ 'mcp.protocol.version': '2026-07-28' })
  })

  it('count in deltas from what arrived, so that a report that is lost is in the next one', () => {
    const meter = createMeter({ startNs: 0n, temporality: 'delta' })
    const take = (): void =>
      meter.take({ metric: 'mcp.server.operation.duration', seconds: 400, attributes: [] })
    const own = { name: 'n', unit: '1', description: '', kind: 'sum' as const, value: 5 }
    take()
    meter.collect(1n, [own])
    take()
    const lost = meter.collect(2n, [own])
    expect(lost.metrics[0]!.points).toMatchObject([{ count: 2, sum: 800, startNs: 0n, timeNs: 2n }])
    expect(lost.metrics[1]!.points).toMatchObject([{ value: 5 }])
    lost.arrived()
    take()
    const next = meter.collect(3n, [{ ...own, value: 7 }])
    expect(next.metrics[0]!.points).toMatchObject([
      { count: 1, startNs: 2n, buckets: [...Array(14).fill(0), 1] },
    ])
    expect(next.metrics[1]!.points).toMatchObject([{ value: 2 }])
  })

  it('are bounded: of too many names, all others are one series', () => {
    const meter = createMeter({ startNs: 0n, temporality: 'cumulative' })
    for (let i = 0; i < 5_000; i += 1)
      meter.take({
        metric: 'mcp.server.operation.duration',
        seconds: 1,
        attributes: [['gen_ai.tool.name', `t${i}`]],
      })
    const { points } = meter.collect(1n).metrics[0]!
    expect(points).toHaveLength(2_001)
    expect(points.at(-1)).toMatchObject({ attributes: [['otel.metric.overflow', true]], count: 3_000 })
  })
})
