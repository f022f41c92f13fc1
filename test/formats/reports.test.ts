/** Formats that are only written: what other tools and people get to see. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MessageRecord, TapeRecord } from '../../src/model/index.js'
import { foreignMeta } from '../../src/formats/foreign/records.js'
import { sessions } from './codec-sessions.js'
import { said, startedAt } from './said.js'
import { recordsOf } from './session-json-stage.js'
import { adopted, read, write } from './codec-stage.js'
import { imported, type Loose } from './import-stage.js'

const meta = foreignMeta({ startedAt, transport: 'stdio', label: 'files' })

const call = (id: string, name = 'search', more = ''): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":${JSON.stringify(name)}${more}}}`
const result = (id: string, value = '{}'): string => `{"jsonrpc":"2.0","id":${id},"result":${value}}`

describe('how long an answer took', () => {
  it('is told without the time in which its request was held', async () => {
    const records = await adopted([
      meta,
      said('in', 1000, call('1'), { heldMs: 3 }),
      said('out', 9000, result('1')),
    ])
    expect((await write('csv', records)).text.split('\r\n')[2]).toContain(',0,5,')
    expect((await write('markdown', records)).text).toContain('| 5.0 ms |')
  })

  it('is not told where the recording says no times', async () => {
    const { records } = await read('jsonrpc', `${call('1')}\n${result('1')}\n`)
    const rows = (await write('csv', records)).text.split('\r\n').slice(1, 3)
    expect(rows[0]).toMatch(/^0,,,client_to_server,/)
    expect(rows[1]).toMatch(/^1,,,server_to_client,result,tools\/call,search,1,0,,/)
    const { text } = await write('markdown', records)
    expect(text).toContain('| 1 | – | ← | result of #0 tools/call search | – |')
    expect(text).not.toContain('1970')
    expect((await write('otlp-json', records)).said).toContain('unknown times are written as 0: 2')
    expect((await write('har', records)).said).toContain('unknown times are written as the year 1970: 2')
  })
})

describe('otlp-json', () => {
  const spansOf = async (records: readonly TapeRecord[]): Promise<Loose[]> => {
    const { text } = await write('otlp-json', await adopted(records))
    return JSON.parse(text).resourceSpans[0].scopeSpans[0].spans
  }
  const attributes = (span: Loose): Record<string, unknown> =>
    Object.fromEntries(span.attributes.map(({ key, value }: Loose) => [key, Object.values(value)[0]]))

  it('has a span from a request to its answer, by the conventions for MCP', async () => {
    const [span] = await spansOf([meta, said('in', 1500, call('7')), said('out', 9000, result('7'))])
    expect(span).toMatchObject({ name: 'tools/call search', kind: 2 })
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/)
    const startNs = BigInt(Date.parse(startedAt)) * 1_000_000n
    expect(span.startTimeUnixNano).toBe(String(startNs + 1_500_000n))
    expect(span.endTimeUnixNano).toBe(String(startNs + 9_000_000n))
    expect(attributes(span)).toEqual({
      'mcp.method.name': 'tools/call',
      'network.transport': 'pipe',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'openinference.span.kind': 'TOOL',
      'jsonrpc.request.id': '7',
    })
    expect('status' in span).toBe(false)
  })

  it('names the session by its id, where a header says it, and never by our name for it', async () => {
    const http = (value: string): Partial<MessageRecord> => ({
      conversation: 'connection-0',
      http: { exchange: 0, method: 'POST', path: '/', headers: [['mcp-session-id', value]] },
    })
    const [redacted] = await spansOf([meta, said('in', 1, call('1'), http('[REDACTED]'))])
    expect(attributes(redacted)).toMatchObject({ 'wiretape.conversation': 'connection-0' })
    expect(attributes(redacted)).not.toHaveProperty(['mcp.session.id'])
    const [open] = await spansOf([meta, said('in', 1, call('1'), http('s-1'))])
    expect(attributes(open)).toMatchObject({ 'mcp.session.id': 's-1' })
  })

  it('has the version of the protocol that its own conversation agreed on', async () => {
    const begin = (id: string, version: string): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":{"protocolVersion":"${version}"}}`
    const of = (conversation: string): Partial<MessageRecord> => ({ conversation })
    const spans = await spansOf([
      meta,
      said('in', 1, begin('1', '2025-11-25'), of('a')),
      said('in', 2, begin('1', '2024-11-05'), of('b')),
      said('in', 3, call('2'), of('a')),
      said('in', 4, call('2'), of('b')),
    ])
    expect(spans.map((span) => attributes(span)['mcp.protocol.version'])).toEqual([
      '2025-11-25',
      '2024-11-05',
      '2025-11-25',
      '2024-11-05',
    ])
  })

  it('says what failed, and how', async () => {
    const spans = await spansOf([
      meta,
      said('in', 1, call('1')),
      said('out', 2, '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such tool"}}'),
      said('in', 3, call('2')),
      said('out', 4, result('2', '{"isError":true}')),
      said('in', 5, call('"three"')),
      said('out', 6, '{"jsonrpc":"2.0","id":9,"method":"roots/list"}'),
    ])
    expect(spans[0]).toMatchObject({ status: { code: 2, message: 'no such tool' } })
    expect(attributes(spans[0])).toMatchObject({
      'error.type': '-32602',
      'rpc.response.status_code': '-32602',
    })
    expect(spans[1]).toMatchObject({ status: { code: 2 } })
    expect(attributes(spans[1])).toMatchObject({ 'error.type': 'tool_error' })
    expect(attributes(spans[2])).toMatchObject({ 'wiretape.unanswered': true, 'jsonrpc.request.id': 'three' })
    expect(spans[3]).toMatchObject({ name: 'roots/list', kind: 3 })
  })

  it('puts a conversation into one trace, and a message with a traceparent into the trace that it names', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const parent = `,"_meta":{"traceparent":"00-${trace}-b7ad6b7169203331-01","tracestate":"a=b"}`
    const ask = (id: string, conversation: string, more = ''): MessageRecord =>
      said('in', 1, call(id, 'x', more), { conversation })
    const spans = await spansOf([meta, ask('1', 'a'), ask('2', 'a'), ask('3', 'b'), ask('4', 'b', parent)])
    const [one, two, three, four] = spans
    expect(one.traceId).toBe(two.traceId)
    expect(three.traceId).not.toBe(one.traceId)
    expect(four).toMatchObject({ traceId: trace, parentSpanId: 'b7ad6b7169203331', traceState: 'a=b' })
    expect('parentSpanId' in one).toBe(false)
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4)
    expect(attributes(one)).toMatchObject({ 'wiretape.conversation': 'a' })
  })

  it.each([
    ['ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', false],
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more', false],
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x', false],
    ['00-00000000000000000000000000000000-b7ad6b7169203331-01', false],
    ['cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
    ['cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes', true],
  ])('takes a traceparent of %s: %s', async (traceparent, taken) => {
    const [span] = await spansOf([
      meta,
      said('in', 1, call('1', 'x', `,"_meta":{"traceparent":"${traceparent}"}`)),
    ])
    expect('parentSpanId' in span).toBe(taken)
  })

  it('is the same each time, and never holds a payload', async () => {
    await fc.assert(
      fc.asyncProperty(sessions({ http: true }), async (records) => {
        const all = await adopted(records)
        const { text, said: losses } = await write('otlp-json', all)
        expect((await write('otlp-json', all)).text).toBe(text)
        const spans: Loose[] = JSON.parse(text).resourceSpans[0].scopeSpans[0].spans
        for (const span of spans)
          expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true)
        expect(losses.some((line) => line.startsWith('payloads are left out'))).toBe(true)
      }),
      { numRuns: 30 },
    )
  })
})

describe('csv', () => {
  /** RFC 4180. */
  function rowsOf(text: string): string[][] {
    const rows: string[][] = [[]]
    const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y
    while (cell.lastIndex < text.length) {
      const [, quoted, plain, end] = cell.exec(text)!
      rows.at(-1)!.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'))
      if (end === '\r\n') rows.push([])
    }
    return rows.slice(0, -1)
  }

  it('has a row a message, with the request that an answer belongs to and how long it took', async () => {
    const { text } = await write(
      'csv',
      await adopted([
        meta,
        said('in', 1000, call('1', 'a,"b"\n')),
        { type: 'stderr', t: startedAt, us: 1200, text: 'oops' },
        said('out', 3500, result('1', '{"x":"é"}')),
      ]),
    )
    const [names, ...rows] = rowsOf(text)
    const records = rows.map((row) => Object.fromEntries(names!.map((name, i) => [name, row[i]])))
    expect(records).toMatchObject([
      {
        seq: '0',
        kind: 'request',
        method: 'tools/call',
        subject: 'a,"b"\n',
        direction: 'client_to_server',
        offset_ms: '1',
      },
      { seq: '', kind: 'stderr', payload: 'oops' },
      {
        seq: '1',
        kind: 'result',
        subject: 'a,"b"\n',
        answers: '0',
        latency_ms: '2.5',
        size_bytes: '44',
        payload: result('1', '{"x":"é"}'),
      },
    ])
  })

  it.each(['=1+1', '+cmd', '-2+3', '@sum', '\tx'])(
    'makes text of %j, which a spreadsheet would run',
    async (name) => {
      const { text } = await write('csv', await adopted([meta, said('in', 1, call('1', name))]))
      expect(rowsOf(text)[1]![6]).toBe(`'${name}`)
    },
  )
})

describe('markdown', () => {
  it('shows who said what, and each message indented', async () => {
    const { text } = await write(
      'markdown',
      await adopted([meta, said('in', 0, call('1')), said('out', 2000, result('1'))]),
    )
    expect(text).toContain('# files\n')
    expect(text).toContain('| 0 | 0.000 | → | tools/call search |')
    expect(text).toContain('| 1 | 0.002 | ← | result of #0 tools/call search | 2.0 ms |')
    expect(text).toContain('### 1 ← result\n\n```json\n{\n  "jsonrpc": "2.0",\n')
  })

  it('lets nothing that a peer says be Markdown or HTML, nor end its block', async () => {
    const hostile = '<img src=x onerror=alert(1)> | **x** [a](javascript:b) `c`\n# d'
    const { text } = await write(
      'markdown',
      await adopted([meta, said('in', 0, call('1', hostile, ',"x":"```\\n~~~~"'))]),
    )
    const table = text.split('\n').find((line) => line.startsWith('| 0 |'))!
    // Inside of code, names notify nobody and addresses are not links.
    expect(table.replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/g, '')).not.toMatch(/[<>*`[]/)
    expect(table.match(/(?<!\\)\|/g)).toHaveLength(7)
    expect(text).toMatch(/\n````json\n/)
  })
})

describe('assay-trace', () => {
  it('is what importing the transcript of the recording gives', async () => {
    await fc.assert(
      fc.asyncProperty(sessions({ http: true, batches: false }), async (records) => {
        const all = await adopted(records)
        const [start] = all
        const id = start?.type === 'meta' ? start.wiretape!.session : ''
        const { text } = await write('assay-trace', all)
        for (const format of ['streamable-http', 'http-sse']) {
          const transcript = (await write(format, all)).text
          expect(text).toBe((await imported(format, transcript, { episode: { id } })).text)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('has a call with a member twice, as importing has it; what stricter readers refuse too', async () => {
    const lines = [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1,"a":2}}}',
      '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}',
      '{"id":2,"method":"tools/call","params":{"name":"u"}}',
      '{"id":2,"error":"no"}',
      '{"jsonrpc":"2.0","id":true,"method":"x"}',
    ]
    const all = await adopted((await read('jsonrpc', lines.join('\n'))).records)
    const [start] = all
    const id = start?.type === 'meta' ? start.wiretape!.session : ''
    const { text, said } = await write('assay-trace', all)
    const got = await imported('jsonrpc', lines.slice(0, 4).join('\n'), { episode: { id } })
    expect(text).toBe(got.text.replaceAll('"timestamp":5', '"timestamp":0'))
    expect(text).toContain('"args":{"a":2}')
    expect(said).toContain('message 4 is left out: "id" must be a string, number or null')
    expect((await write('streamable-http', all)).said).toContain(
      'message 0 is left out: it has a repeated member',
    )
  })

  it('of a recording in which no message is JSON-RPC has no steps, and says what it passed over', async () => {
    const tape = (t: string, raw: string): string => `{"t":"${t}","dir":"in","raw":${raw}}`
    const { text, said } = await write(
      'assay-trace',
      recordsOf([
        '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"s","command":[]}',
        tape('2026-08-01T10:00:01.000Z', '{"a":1}'),
        tape('2026-08-01T10:00:02.000Z', '{"b":1}'),
      ]),
    )
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).type),
    ).toEqual(['episode_start', 'episode_end'])
    expect(said.at(-1)).toMatch(/objects that are neither requests nor responses \(2\)$/)
  })

  it('is the same for the messages of the recording, one a line', async () => {
    await fc.assert(
      fc.asyncProperty(sessions({ http: true, batches: false }), async (records) => {
        const all = await adopted(records)
        const untimed = (lines: string): string =>
          lines.replaceAll(/"(timestamp|episode_id)":("[^"]*"|\d+)/g, '')
        const { text } = await write('assay-trace', all)
        const lines = (await write('jsonrpc', all)).text
        expect(untimed((await imported('jsonrpc', lines)).text)).toBe(untimed(text))
        expect((await read('jsonrpc', lines)).said).toEqual([])
      }),
      { numRuns: 30 },
    )
  })
})
