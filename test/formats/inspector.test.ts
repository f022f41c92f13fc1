import { describe, expect, it } from 'vitest'
import { detectFormat } from '../../src/formats/index.js'
import { read, spoken, write } from './codec-stage.js'
import { callsIn, imported, type Loose } from './import-stage.js'
import { recordsOf } from './session-json-stage.js'

/** The format of MCP Inspector 2: an array, two spaces, no line feed at the end. */
const exported = (entries: readonly object[]): string => JSON.stringify(entries, null, 2)
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow', arguments: { a: 1.5 } } }
const result = { jsonrpc: '2.0', id: 1, result: { content: [] } }
const sampling = { jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: {} }
const sampled = { jsonrpc: '2.0', id: 1, result: { role: 'assistant' } }
const at = (ms: number): string => new Date(Date.parse('2026-08-19T10:00:00.000Z') + ms).toISOString()

const protocol = exported([
  {
    id: 'a',
    timestamp: at(0),
    direction: 'request',
    origin: 'client',
    message: call,
    response: result,
    duration: 120,
  },
  {
    id: 'b',
    timestamp: at(50),
    direction: 'request',
    origin: 'server',
    message: sampling,
    response: sampled,
    duration: 12,
  },
  {
    id: 'c',
    timestamp: at(60),
    direction: 'notification',
    message: { jsonrpc: '2.0', method: 'notifications/message' },
  },
])
const network = exported([
  {
    id: '1755597600000-a1b2c3d4e',
    timestamp: at(0),
    method: 'POST',
    url: 'https://example.com/mcp?x=1',
    requestHeaders: { 'content-type': 'application/json', authorization: '[REDACTED]' },
    requestBody: JSON.stringify(call),
    responseStatus: 200,
    responseStatusText: 'OK',
    responseHeaders: { 'content-type': 'text/event-stream' },
    responseBody: `event: message\nid: 7\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\ndata: ${JSON.stringify(result)}\n\n`,
    duration: 35,
    category: 'transport',
  },
  {
    id: '2',
    timestamp: at(1000),
    method: 'GET',
    url: 'https://example.com/.well-known/oauth-protected-resource',
    requestHeaders: {},
    responseStatus: 404,
    responseHeaders: {},
    responseBody: 'nope',
    duration: 3,
    category: 'auth',
  },
  {
    id: '3',
    timestamp: at(2000),
    method: 'POST',
    url: 'https://example.com/mcp',
    requestHeaders: {},
    requestBody: '{"jsonrpc":"2.0","id":2,"method":"ping"}',
    duration: 3,
    error: 'fetch failed',
    category: 'transport',
  },
])
const logs = exported([{ receivedAt: at(5), params: { level: 'info', logger: 'l', data: { a: 1 } } }])
const consoleLines = exported([{ timestamp: at(5), message: 'Server started' }])

describe('an export of MCP Inspector', () => {
  it('of the protocol gives requests and answers at their times, each to its side', async () => {
    const { records, said } = await read('inspector', protocol)
    expect(said).toEqual([])
    expect(
      (await spoken(records)).map((line) => line.replace(/\{.*"(method|result)":/, '$1 ').slice(0, 40)),
    ).toEqual([
      expect.stringContaining('> method "tools/call"'),
      expect.stringContaining('< method "sampling/createMessage"'),
      expect.stringContaining('< method "notifications/message"'),
      expect.stringContaining('> #1 result {"role"'),
      expect.stringContaining('< #0 result {"content"'),
    ])
    expect(records.flatMap((record) => (record.type === 'message' ? [record.t] : []))).toEqual(
      [0, 50, 60, 62, 120].map(at),
    )
  })

  it('of the protocol is written as it is exported, but for the layout of messages', async () => {
    const { text } = await write('inspector', (await read('inspector', protocol)).records)
    const entries = JSON.parse(text)
    expect(entries.map(({ id: _, ...entry }: { id: string }) => entry)).toEqual(
      JSON.parse(protocol).map(({ id: _, ...entry }: { id: string }) => ({ origin: 'server', ...entry })),
    )
    expect(text).toMatch(/^\[\n {2}\{\n {4}"id": "msg-001",\n {4}"timestamp": /)
    expect(text).toMatch(/\n {2}\}\n\]$/)
  })

  it('of the network gives messages with their HTTP, and what was none', async () => {
    const { records, said } = await read('inspector', network)
    expect(said).toEqual([])
    expect(records[0]).toMatchObject({
      wiretape: { transport: 'streamable-http', url: 'https://example.com/mcp?x=1' },
    })
    expect(records.slice(1, -1)).toMatchObject([
      {
        type: 'message',
        direction: 'client_to_server',
        http: { exchange: 0, method: 'POST', path: '/mcp?x=1' },
      },
      { type: 'message', sse: { event: 'message', id: '7' }, http: { exchange: 0, status: 200 } },
      { type: 'message', sse: {}, http: { exchange: 0 }, t: at(35) },
      { type: 'http', exchange: 1, status: 404, body: 'nope' },
      { type: 'message', http: { exchange: 2 } },
      { type: 'http', exchange: 2, why: 'fetch failed' },
    ])
  })

  it('of the network names the server of the first exchange of MCP, not that of OAuth before it', async () => {
    const [transport, auth] = JSON.parse(network) as Loose[]
    const discovery = { ...auth, url: 'https://auth.example.org/.well-known/oauth-authorization-server' }
    const { records } = await read('inspector', exported([{ ...discovery, timestamp: at(-9) }, transport]))
    expect(records[0]).toMatchObject({ startedAt: at(-6), wiretape: { url: 'https://example.com/mcp?x=1' } })
    expect(records.map(({ type }) => type)).toEqual(['meta', 'http', 'message', 'message', 'message', 'end'])
    expect(records[1]).toMatchObject({ type: 'http', path: discovery.url })
    const alone = await read('inspector', exported([discovery]))
    expect(alone.records[0]).toMatchObject({ wiretape: { url: discovery.url } })
  })

  it('of the network has exchanges as they ended, and is read in the order of times', async () => {
    const [transport] = JSON.parse(network) as Loose[]
    const stream = { ...transport, method: 'GET', requestBody: undefined, responseBody: undefined }
    const entries = [
      { ...stream, timestamp: at(10), duration: 90 },
      { ...transport, timestamp: at(20), duration: 5 },
      { ...transport, timestamp: at(0), duration: 50 },
      { ...transport, timestamp: at(15), duration: 60 },
    ]
    const { records } = await read('inspector', exported(entries))
    expect(records[0]).toMatchObject({ startedAt: at(0) })
    const times = records.slice(1, -1).map((record) => ('t' in record ? record.t : ''))
    expect(times).toEqual([0, 15, 20, 25, 25, 50, 50, 75, 75, 100].map(at))
    // The duration of an exchange ends with its headers.
    const untimed = records.filter((record) => record.type === 'message' && record.untimed)
    expect(untimed.length).toBe(6)
    expect(untimed.every((record) => record.type === 'message' && record.sse)).toBe(true)
  })

  it('of logs gives the notifications, of the console lines of stderr', async () => {
    const [, message] = (await read('inspector', logs)).records
    expect(message).toMatchObject({ direction: 'server_to_client', t: at(5) })
    const [, line] = (await read('inspector', consoleLines)).records
    expect(line).toEqual({ type: 'stderr', t: at(5), text: 'Server started' })
  })

  it('is imported: each call with its own answer, though the server asked under the same id', async () => {
    const got = await imported('inspector', protocol)
    expect(callsIn(got)).toEqual(['slow {"a":1.5} {"content":[]} null'])
    expect(got.events.at(-1)).toMatchObject({
      timestamp: Date.parse(at(120)),
      final_output: '{"content":[]}',
    })
    expect(got.said).toEqual([
      'not about tools, so not in the trace: requests from servers and their responses (1), requests and notifications of other methods (1)',
    ])
  })

  it('of the network is imported by its bodies, the others without an event', async () => {
    const got = await imported('inspector', network)
    expect(callsIn(got)).toEqual(['slow {"a":1.5} {"content":[]} null'])
    expect(got.said).toEqual([
      'not about tools, so not in the trace: HTTP exchanges without JSON-RPC (1), requests and notifications of other methods (2)',
    ])
    for (const [text, what] of [
      [logs, 'requests and notifications of other methods (1)'],
      [consoleLines, 'stderr lines (1)'],
    ] as const) {
      const empty = await imported('inspector', text)
      expect(empty.events).toHaveLength(2)
      expect(empty.said).toEqual([`not about tools, so not in the trace: ${what}`])
    }
  })
})

describe('a list of messages without a direction', () => {
  it('gives each to the side that says such things, and answers to the other one', async () => {
    const lines = [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{"progressToken":"p"}}}',
      '{"jsonrpc":"2.0","id":1,"method":"roots/list"}',
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p"}}',
      '{"jsonrpc":"2.0","id":1,"result":"of the client that asked first"}',
      '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}',
      '{"jsonrpc":"2.0","id":7,"method":"x/custom"}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
      '{"jsonrpc":"2.0","id":"orphan","result":1}',
    ]
    for (const [id, text] of [
      ['jsonrpc', lines.join('\n')],
      ['inspector', `[${lines.join(',')}]`],
    ] as const) {
      const { records } = await read(id, text)
      expect((await spoken(records)).map((line) => line[0])).toEqual('><<<>>><'.split(''))
    }
  })

  it('of jsonrpc takes times from its messages, and says nothing of others', async () => {
    const { records } = await read(
      'jsonrpc',
      '{"jsonrpc":"2.0","method":"a"}\n{"timestamp_ms":1000,"jsonrpc":"2.0","method":"b"}\n{"jsonrpc":"2.0","method":"c"}',
    )
    expect(records.map((record) => ('t' in record ? record.t : undefined))).toEqual([
      undefined,
      ...Array.from({ length: 4 }, () => '1970-01-01T00:00:01.000Z'),
    ])
    expect(recordsOf([])).toEqual([])
  })
})

it('why the client rejected an answer is said, and kept as a note that no writer loses silently', async () => {
  const text = exported([
    {
      timestamp: at(0),
      direction: 'request',
      origin: 'client',
      message: call,
      response: result,
      duration: 9,
      clientError: 'bad\nshape',
    },
    {
      timestamp: at(20),
      direction: 'notification',
      origin: 'client',
      message: { method: 'n' },
      error: 'lost',
    },
  ])
  const { records, said } = await read('inspector', text)
  expect(said).toEqual([
    '2: entry 1: the client rejected this response: bad\nshape',
    expect.stringMatching(/^\d+: entry 2: the client had an error with this message: lost$/),
  ])
  expect(records.map((record) => [record.type, 't' in record ? record.t : undefined])).toEqual([
    ['meta', undefined],
    ['message', at(0)],
    ['message', at(9)],
    ['note', at(9)],
    ['message', at(20)],
    ['note', at(20)],
    ['end', at(20)],
  ])
  expect((await write('inspector', records)).said).toContain('notes are left out: 2')
})

it('an entry without a time among others has none', async () => {
  const entry = { direction: 'notification', origin: 'client', message: { jsonrpc: '2.0', method: 'n' } }
  const { records } = await read('inspector', exported([{ ...entry, timestamp: at(5) }, entry]))
  expect(records.slice(1, 3)).toMatchObject([{ t: at(5) }, { t: at(5), untimed: true }])
  expect(records[1]).not.toHaveProperty('untimed')
})

it('an object with no events is an empty list', async () => {
  const empty = '{"events":[]}\n'
  expect(detectFormat(new TextEncoder().encode(empty))?.id).toBe('inspector')
  expect((await read('inspector', empty)).records.map(({ type }) => type)).toEqual(['meta', 'end'])
})

it.each(['{}', '{"events":5}', '{"log":{"entries":[]}}', '"x"'])(
  '%s is no export: it is refused',
  async (text) => {
    await expect(read('inspector', text)).rejects.toThrow('no MCP message found')
  },
)
it.each(['[]', '{"events":[]}'])('%s is an empty one', async (text) => {
  expect(await read('inspector', text)).toMatchObject({
    records: [{ type: 'meta' }, { type: 'end' }],
    said: [],
  })
})
