import { describe, expect, it } from 'vitest'
import { detectFormat, formats } from '../../src/formats/index.js'
import type { HttpRecord, SseContext, TapeRecord } from '../../src/model/index.js'
import {
  answered,
  call,
  http,
  imported,
  result,
  toClient,
  toServer,
  transports,
} from './http-transcript-stage.js'
import { read, write } from './codec-stage.js'
import { goldenFiles } from './session-json-stage.js'

const golden = goldenFiles('http-transcript')
const { fixture } = golden
const tapeOf = (name: string): TapeRecord[] => golden.tapeOf(`${name}.jsonl`)

describe('golden files', () => {
  it.each(transports)('the tape %s makes this file, which importers take', async (name) => {
    const { text, ...read } = await imported(tapeOf(name), name)
    expect(text).toBe(fixture(`${name}.json`))
    expect(read).toMatchObject({ events: name === 'http-sse' ? 2 : 13 })
  })

  it('the calls of the tape are those of the transcript', async () => {
    const { calls, orphans, discovery, said } = await imported(tapeOf('streamable-http'))
    expect(calls).toEqual([
      {
        id: 'two',
        name: 'sum',
        args: '{"a":1.0,"b":12345678901234567890,"s":"é / 😀"}',
        outcome: '{"content":[{"type":"text","text":"3"}]}',
      },
      {
        id: '3',
        name: 'none',
        args: undefined,
        outcome: '{"code":-32602,"message":"Unknown tool: none"}',
      },
    ])
    expect(orphans).toEqual(['0', 'q1', '1'])
    expect(discovery).toEqual({ resourceMetadata: true, scope: true })
    expect(said).toEqual([
      'message 0 is left out: the server rejected its HTTP request, and the client sent it again',
      'HTTP exchange 0 had status 401 without JSON-RPC: it is written as an error response',
      'message 12 is left out: another request with its id is open, and the format does not separate the ids of client and server',
      'message 13 is left out: its request is left out',
      'HTTP exchanges without JSON-RPC are left out: 2',
      'batches are written message by message: 2',
      'gaps are left out: 1',
    ])
  })
})

describe('the format', () => {
  it.each(transports)('%s is written when requested by name, and read by its content', (id) => {
    const format = formats.find((known) => known.id === id)!
    expect(format.extension).toBeUndefined()
    const head = new TextEncoder().encode(fixture(`${id}.json`))
    expect(detectFormat(head)).toBe(format)
  })

  it('holds nothing of an empty recording', async () => {
    const { text, events, said } = await imported([])
    expect(text).toBe('{\n  "transport": "streamable-http",\n  "entries": []\n}\n')
    expect([events, said]).toEqual([0, []])
  })

  it('comes in chunks that make the same file', async () => {
    const records = Array.from({ length: 4000 }, (_, n) => toServer(call(String(n), 'long'.repeat(20))))
    expect((await imported(records)).events).toBe(4000)
  })

  it('reports that the recording is of another transport', async () => {
    const stdio = tapeOf('http-sse').with(0, { ...tapeOf('http-sse')[0]!, wiretape: undefined } as never)
    for (const to of transports) {
      expect((await imported(stdio, to)).said).toEqual([`the stdio recording is written as ${to}`])
    }
    expect((await imported(tapeOf('http-sse'), 'streamable-http')).said).toEqual([
      'the http-sse recording is written as streamable-http',
    ])
  })
})

describe('a message', () => {
  it('stands in the slot of its direction and body', async () => {
    const exchange = { exchange: 0 }
    const records = [
      toServer(call('1'), { http: exchange }),
      toClient('{"jsonrpc":"2.0","method":"a"}', { http: exchange, sse: {} }),
      toClient(result('1'), { http: exchange }),
    ]
    for (const to of transports) {
      const { text } = await imported(records, to)
      const entries = (JSON.parse(text) as { entries: object[] }).entries
      expect(entries.map((entry) => Object.keys(entry).at(-1))).toEqual(['request', 'sse', 'response'])
    }
  })

  it('of a server on stdio is in a body, or an event where the transport has only these', async () => {
    const records = answered(toServer(call('1')), result('1'))
    expect((await imported(records)).text).toContain('"response":{"jsonrpc"')
    const { text } = await imported(records, 'http-sse')
    expect(text).toContain('"sse":{"event":"message","data":{"jsonrpc"')
  })

  it('keeps its exact text', async () => {
    const exact = '{ "jsonrpc" : "2.0",\t"method":"a", "params":{"n":1.0, "m":1e2, "s":"\\u0041\\/"} }'
    for (const record of [toServer(exact), toClient(exact), toClient(exact, { sse: { id: '1' } })]) {
      expect((await imported([record])).text).toContain(exact)
    }
  })

  it('of a batch is an entry of its own', async () => {
    const { text, calls, events } = await imported([
      toServer(`[${call('1', 'a')} , ${call('2', 'b')}]`),
      toClient(`[${result('2')},${result('1', '[]')},5]`),
    ])
    expect(events).toBe(4)
    expect(calls).toMatchObject([
      { name: 'a', outcome: '[]' },
      { name: 'b', outcome: '{}' },
    ])
    expect(text.split('\n').filter((line) => line.includes('timestamp_ms'))).toHaveLength(4)
  })

  it('never comes before the one before it, whatever the clock did', async () => {
    const [request, answer] = answered(
      toServer(call('1'), { t: '2026-08-01T10:00:05.000Z' }),
      result('1', '"late"'),
    )
    const { calls } = await imported([request, { ...answer, t: '2026-08-01T09:00:00.000Z' }])
    expect(calls).toMatchObject([{ outcome: '"late"' }])
    expect((await imported([{ ...request, t: 'never' }])).text).toContain('"timestamp_ms":0,')
  })

  it('in an event of another name is passed over by importers, and there', async () => {
    const { text, events } = await imported([toClient(result('1'), { sse: { event: 'other', retry: 5 } })])
    expect(events).toBe(0)
    expect(text).toContain(`"sse":{"event":"other","retry":5,"data":${JSON.stringify(result('1'))}}`)
  })

  it('in an event whose name is empty has none', async () => {
    const { text, events } = await imported([toClient(result('1'), { sse: { event: '', id: '' } })])
    expect(events).toBe(1)
    expect(text).toContain('"sse":{"id":"","data":{')
  })
})

describe('HTTP', () => {
  const challenge = (value: string): [string, string][] => [['www-authenticate', value]]

  it.each([
    ['Bearer resource_metadata="http://a/b"', { resourceMetadata: true, scope: false }],
    ['Bearer realm="x",scope=a', { resourceMetadata: false, scope: true }],
    ['Bearer Scope="x",\tresource_metadata=', { resourceMetadata: true, scope: true }],
  ])('401 with %s is a discovery', async (value, discovery) => {
    const headers = challenge(value)
    const bare = await imported([http({ status: 401, headers, body: '{"error":"invalid_token"}' })])
    expect(bare).toMatchObject({ discovery, events: 1, orphans: [], said: [expect.stringContaining('401')] })
    const error = '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Unauthorized"}}'
    const spoken = await imported([toClient(error, { http: { exchange: 0, status: 401, headers } })])
    expect(spoken).toMatchObject({ discovery, events: 1, said: [] })
    expect(spoken.text).toContain(error)
  })

  it('401 with several challenges shows them all', async () => {
    const headers: [string, string][] = [...challenge('Basic realm="a"'), ...challenge('Bearer scope="b"')]
    expect((await imported([http({ status: 401, headers })])).discovery.scope).toBe(true)
  })

  it.each<Partial<HttpRecord>>([
    { status: 401 },
    { status: 401, headers: challenge('Bearer realm="x"') },
    { status: 401, headers: challenge('Bearer xscope="x"') },
    { status: 403, headers: challenge('Bearer scope="x"') },
    { status: 404, body: 'no' },
    { why: 'connection refused' },
    { status: 200, body: '{}' },
  ])('%j has no place, which is said', async (more) => {
    expect(await imported([http(more)])).toMatchObject({
      events: 0,
      said: ['HTTP exchanges without JSON-RPC are left out: 1'],
      discovery: { resourceMetadata: false, scope: false },
    })
  })

  it.each<Partial<HttpRecord>>([
    { status: 202 },
    { status: 202, body: 'Accepted' },
    { status: 204, body: '' },
  ])('%j is not missed', async (more) => {
    expect(await imported([http(more)])).toMatchObject({ events: 0, said: [] })
  })

  it('events that are no messages are there, and read by nobody', async () => {
    const event = (sse: SseContext, body?: string): HttpRecord =>
      http({ status: 200, sse, ...(body !== undefined && { body }) })
    const { text, events, said } = await imported(
      [
        event({ event: 'endpoint', id: '0' }, '/message?x=1'),
        event({ id: '1' }, ''),
        event({ retry: 5 }),
        event({}, '[DONE]'.slice(1)),
        event({ event: 'ping' }, '{"jsonrpc":"2.0","jsonrpc":"\ud800"}'),
        event({}, '{"a":1,"a":2}'),
      ],
      'http-sse',
    )
    expect(events).toBe(0)
    expect(said).toEqual(['HTTP exchanges without JSON-RPC are left out: 1'])
    const entries = (JSON.parse(text) as { entries: { sse: object }[] }).entries
    expect(entries.map(({ sse }) => sse)).toEqual([
      { event: 'endpoint', id: '0', data: '/message?x=1' },
      { id: '1', data: '' },
      { retry: 5, data: '' },
      { data: 'DONE]' },
      { event: 'ping', data: '{"jsonrpc":"2.0","jsonrpc":"\ufffd"}' },
    ])
  })

  it('headers of one value stand at the top, and all where they were sent', async () => {
    const headers = (version: string): [string, string][] => [
      ['mcp-protocol-version', version],
      ['MCP-SESSION-ID', 's'],
      ['Authorization', 'Bearer x'],
    ]
    const note = '{"jsonrpc":"2.0","method":"a"}'
    const records = ['1', '2'].map((version, exchange) =>
      toServer(note, { http: { exchange, method: 'POST', path: '/', headers: headers(version) } }),
    )
    const { text } = await imported(records)
    expect(JSON.parse(text)).toMatchObject({
      transport_context: { headers: { 'Mcp-Session-Id': 's' } },
      entries: [
        { transport_context: { headers: { 'MCP-Protocol-Version': '1', 'Mcp-Session-Id': 's' } } },
        { transport_context: { headers: { 'MCP-Protocol-Version': '2', 'Mcp-Session-Id': 's' } } },
      ],
    })
    expect(text).not.toContain('Bearer')
  })
})

it('no entries at all are none, which is said', async () => {
  const { records, said } = await read('streamable-http', '{"transport":"streamable-http","messages":[]}')
  expect(said).toEqual(['it has no "entries"'])
  expect(records.map(({ type }) => type)).toEqual(['meta', 'end'])
})

it('entries that are no array are refused', async () => {
  await expect(read('http-sse', '{"transport":"http-sse","entries":null}')).rejects.toThrow(
    'no MCP message found',
  )
})

it('Last-Event-ID stays at the entry that says it', async () => {
  const context = '"transport_context":{"headers":{"Last-Event-ID":"7"}}'
  const text = `{"transport":"streamable-http","entries":[
    {"timestamp_ms":1,"request":{"jsonrpc":"2.0","id":1,"method":"ping"}},
    {"timestamp_ms":2,"sse":{"id":"8","data":{"jsonrpc":"2.0","method":"notifications/message"}}},
    {"timestamp_ms":3,${context},"sse":{"id":"9","data":{"jsonrpc":"2.0","method":"notifications/message"}}},
    {"timestamp_ms":4,"sse":{"event":"endpoint","data":"/x"}},
    {"timestamp_ms":5,"response":{"jsonrpc":"2.0","id":1,"result":{}}}]}`
  const { records } = await read('streamable-http', text)
  const again = (await write('streamable-http', records)).text
  const lines = again.split('\n').filter((line) => line.includes('Last-Event-ID'))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('"timestamp_ms":3')
})
