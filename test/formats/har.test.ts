import { describe, expect, it } from 'vitest'
import type { TapeRecord } from '../../src/model/index.js'
import { foreignMessage, foreignMeta } from '../../src/formats/foreign/records.js'
import { adopted, read, spoken, write } from './codec-stage.js'
import type { Loose } from './import-stage.js'
import { recordsOf } from './session-json-stage.js'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ask = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","n":1.0}}'
const note = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}'
const answer = '{"jsonrpc":"2.0","id":1,"result":{"text":"ü\\n"}}'

function entry(more: Loose): Loose {
  const { request = {}, response = {}, ...rest } = more
  return {
    startedDateTime: '2026-08-01T10:00:00.000Z',
    time: 50,
    request: { method: 'POST', url: 'https://example.com/mcp?k=v', headers: [], ...request },
    response: { status: 200, headers: [], content: { mimeType: 'application/json', size: 0 }, ...response },
    timings: { send: 1, wait: 9, receive: 40 },
    ...rest,
  }
}
const archive = (...entries: Loose[]): string =>
  JSON.stringify({ log: { version: '1.2', creator: {}, entries } })
const asked = { postData: { mimeType: 'application/json', text: ask } }

describe('an archive of a browser', () => {
  it('gives the messages in bodies, with what HTTP said around them', async () => {
    const response = {
      headers: [{ name: 'content-type', value: 'application/json' }],
      content: { mimeType: 'application/json', text: answer },
    }
    const { records, said } = await read('har', archive(entry({ request: asked, response })))
    expect(said).toEqual([])
    expect(await spoken(records)).toEqual([`> ${ask}`, `< #0 ${answer}`])
    expect(records[0]).toMatchObject({
      wiretape: { transport: 'streamable-http', url: 'https://example.com/mcp' },
    })
    expect(records[1]).toMatchObject({
      t: '2026-08-01T10:00:00.000Z',
      http: { exchange: 0, method: 'POST', path: '/mcp?k=v' },
    })
    expect(records[2]).toMatchObject({ t: '2026-08-01T10:00:00.010Z', http: { exchange: 0, status: 200 } })
  })

  it('gives the events of streams: those it lists, with their times', async () => {
    const events = [
      { time: 1785578400.02, eventName: 'message', eventId: 'e1', data: note },
      { time: 1785578400.03, eventName: '', eventId: '', data: answer },
      { time: 1785578400.04, eventName: 'ping', eventId: '', data: 'x' },
    ]
    const response = { content: { mimeType: 'text/event-stream', text: 'data: ignored\n\n' } }
    const { records } = await read(
      'har',
      archive(entry({ request: asked, response, _eventSourceMessages: events })),
    )
    expect(await spoken(records)).toEqual([`> ${ask}`, `< ${note}`, `< #0 ${answer}`])
    expect(records.slice(2, 5)).toMatchObject([
      { t: '2026-08-01T10:00:00.020Z', sse: { event: 'message', id: 'e1' } },
      { t: '2026-08-01T10:00:00.030Z', sse: {} },
      { type: 'http', sse: { event: 'ping' }, body: 'x' },
    ])
  })

  it('gives the events of streams: else those in the body, packed in base64 too', async () => {
    const stream = `: hello\nid: 7\ndata: ${note}\n\nevent: message\ndata: ${answer}\n\n`
    for (const content of [
      { mimeType: 'text/event-stream', text: stream },
      {
        mimeType: 'text/event-stream;charset=utf-8',
        text: Buffer.from(stream).toString('base64'),
        encoding: 'base64',
      },
    ]) {
      const { records } = await read('har', archive(entry({ request: asked, response: { content } })))
      expect(await spoken(records)).toEqual([`> ${ask}`, `< ${note}`, `< #0 ${answer}`])
    }
  })

  it('keeps OAuth as HTTP, and passes over what is no MCP', async () => {
    const page = entry({ request: { method: 'GET', url: 'https://example.com/logo.png' } })
    const oauth = entry({
      request: { method: 'GET', url: 'https://example.com/.well-known/oauth-protected-resource' },
    })
    const refused = entry({ request: asked, response: { status: 401, content: { mimeType: '', text: '' } } })
    const { records, said } = await read('har', archive(page, oauth, refused, page))
    expect(records.map(({ type }) => type)).toEqual(['meta', 'message', 'http', 'http', 'end'])
    expect(said).toEqual(['HTTP exchanges that are not MCP are skipped: 2'])
    await expect(read('har', archive(page))).rejects.toThrow('its only HTTP exchange is not MCP')
    await expect(read('har', archive(page, page))).rejects.toThrow('none of its 2 HTTP exchanges is MCP')
    await expect(read('har', '{"hello":1}')).rejects.toThrow('it has no "log"')
  })

  it('puts what several exchanges said into the order of time', async () => {
    const slow = entry({ request: asked, response: { content: { text: answer } }, timings: { wait: 500 } })
    const other = { postData: { text: ask.replace('"id":1', '"id":2') } }
    const quick = entry({
      startedDateTime: '2026-08-01T10:00:00.100Z',
      request: other,
      response: { content: { text: answer.replace('"id":1', '"id":2') } },
    })
    const { records } = await read('har', archive(slow, quick))
    expect((await spoken(records)).map((line) => line.slice(0, 4))).toEqual(['> {"', '> {"', '< #1', '< #0'])
  })
})

describe('an archive of ours', () => {
  const tape = readFileSync(
    join(import.meta.dirname, '../fixtures/http-transcript/streamable-http.jsonl'),
    'utf8',
  )
  const records = recordsOf(tape.trimEnd().split('\n'))

  it('has what readers of HAR 1.2 insist on', async () => {
    const { text } = await write('har', records)
    const { log } = JSON.parse(text)
    expect(log).toMatchObject({ version: '1.2', creator: { name: 'wiretape' } })
    for (const one of log.entries as Loose[]) {
      expect(Number.isNaN(Date.parse(one.startedDateTime))).toBe(false)
      for (const number of [one.time, one.timings.send, one.timings.wait, one.timings.receive])
        expect(number).toBeTypeOf('number')
      expect(one).toMatchObject({
        cache: {},
        request: { cookies: [], httpVersion: 'HTTP/1.1', headersSize: -1 },
      })
      expect(one.response.content).toMatchObject({ size: expect.any(Number), mimeType: expect.any(String) })
      for (const event of one._eventSourceMessages ?? []) {
        expect(event).toMatchObject({
          time: expect.any(Number),
          eventName: expect.any(String),
          eventId: expect.any(String),
        })
        expect(one.response.content.mimeType).toBe('text/event-stream')
      }
    }
    const started = (log.entries as Loose[]).map((one) => Date.parse(one.startedDateTime))
    expect(started).toEqual(started.toSorted((a, b) => a - b))
    expect(new Set((log.entries as Loose[]).map((one) => new URL(one.request.url).pathname))).toContain(
      '/mcp',
    )
  })

  it('comes back with every message, batches and failed exchanges too', async () => {
    const { text, said } = await write('har', records)
    expect(said).toEqual(['gaps are left out: 1'])
    const back = await read('har', text)
    expect(back.said).toEqual([])
    const lines = async (all: readonly TapeRecord[]): Promise<string[]> =>
      (await spoken(all)).map((line) => line.replace(/ #\d+/, ''))
    expect((await lines(back.records)).toSorted()).toEqual((await lines(records)).toSorted())
    const batches = back.records.filter((record) => record.type === 'message' && record.batch)
    expect(batches).toHaveLength(2)
    expect(back.records.filter(({ type }) => type === 'http').length).toBeGreaterThanOrEqual(4)
  })

  it('is JSON whatever the times and the label are', async () => {
    const t = '2026-08-01T10:00:00.000Z'
    const { text, said } = await write('har', [
      foreignMeta({ startedAt: t, transport: 'stdio', label: 'a\ud800b' }),
      foreignMessage(ask, { t: '[]', direction: 'client_to_server' }),
    ])
    expect(JSON.parse(text).log.entries[0].request.url).toBe('http://stdio.invalid/a%EF%BF%BDb')
    expect(said).toContain('invalid times are replaced by the time of the previous message: 1')
  })

  it('of stdio has made-up URLs, which are said, and comes back as stdio', async () => {
    const t = '2026-08-01T10:00:00.000Z'
    const stdio = await adopted([
      { type: 'meta', startedAt: t, label: 'a b/c', command: ['x'] },
      ...recordsOf([
        `{"t":"2026-08-01T10:00:00.001Z","dir":"in","raw":${ask}}`,
        `{"t":"2026-08-01T10:00:00.002Z","dir":"out","raw":{"jsonrpc":"2.0","id":1,"method":"roots/list"}}`,
        `{"t":"2026-08-01T10:00:00.003Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}}`,
        `{"t":"2026-08-01T10:00:00.004Z","dir":"out","raw":${answer}}`,
      ]),
    ])
    const { text, said } = await write('har', stdio)
    expect(said).toEqual(['URLs are made up, since stdio has none: 3'])
    expect(JSON.parse(text).log.entries[0].request.url).toBe('http://stdio.invalid/a%20b%2Fc')
    const back = await read('har', text)
    expect(back.records[0]).toMatchObject({ label: 'a b/c', wiretape: { transport: 'stdio', url: null } })
    expect(await spoken(back.records)).toEqual(await spoken(stdio))
  })

  /** Lines of a tape over HTTP, all in the same millisecond. */
  const tied = (...messages: Loose[]): TapeRecord[] => {
    const t = '2026-08-01T10:00:00.001Z'
    const wiretape = { version: '1', session: 's', transport: 'streamable-http', url: 'http://x/mcp' }
    const meta = {
      v: 1,
      type: 'meta',
      startedAt: '2026-08-01T10:00:00.000Z',
      label: 'x',
      command: [],
      wiretape,
    }
    return recordsOf(
      [meta, ...messages].map((line) => JSON.stringify({ ...line, ...(line !== meta && { t }) })),
    )
  }
  const call = (id: number): Loose => ({
    dir: 'in',
    raw: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'a' } },
    http: { exchange: id, method: 'POST', path: '/mcp' },
  })
  const reply = (id: number, more: Loose = {}): Loose => ({
    dir: 'out',
    raw: { jsonrpc: '2.0', id, result: {} },
    http: { exchange: id, status: 200 },
    ...more,
  })

  it.each([
    ['answers that overtake', [call(1), call(2), reply(2), reply(1)]],
    [
      'answers in streams',
      [call(1), call(2), reply(2, { sse: {} }), call(3), reply(3), reply(1, { sse: {} })],
    ],
    ['answers at the end', [call(3), call(1), call(2), reply(3), reply(1), reply(2)]],
  ])('tells the order of what happened in the same moment: %s', async (_, lines) => {
    const records = await adopted(tied(...lines))
    const { text, said } = await write('har', records)
    expect(said).toEqual([])
    expect(await spoken((await read('har', text)).records)).toEqual(await spoken(records))
  })

  it('tells which messages readers will not take for any', async () => {
    const odd = ['{}', '{"a":1}', '{"jsonrpc":"2.0","id":null,"method":"x"}']
    const t = '2026-08-01T10:00:01.000Z'
    const said = (
      await write('har', [
        foreignMeta({ startedAt: t, transport: 'stdio', label: 'x' }),
        ...odd.map((text) => foreignMessage(text, { t, direction: 'client_to_server' as const })),
      ])
    ).said
    expect(said).toContain('messages that are not JSON-RPC are written as bodies only: 2')
  })

  it('tells it where no times are known at all, and what stands for them', async () => {
    const lines = [call(1), call(2), reply(2), reply(1)].map(({ raw }) => JSON.stringify(raw))
    const { records } = await read('jsonrpc', lines.join('\n'))
    const { text, said } = await write('har', await adopted(records))
    expect(said).toContain('unknown times are written as the year 1970: 4')
    const back = await read('har', text)
    expect(await spoken(back.records)).toEqual(await spoken(records))
    expect(back.records.some((record) => 'us' in record)).toBe(false)
  })

  it('comes back to the microsecond', async () => {
    const stream = { exchange: 2, status: 200, headers: [['content-type', 'text/event-stream']] }
    const records = tied(
      { ...call(1), us: 1391 },
      {
        ...reply(1, { http: { ...stream, exchange: 1, headers: [['content-type', 'application/json']] } }),
        us: 1990,
      },
    ).concat(tied({ ...call(2), us: 2003 }, { ...reply(2, { sse: {}, http: stream }), us: 5407 }).slice(1))
    const { text } = await write('har', await adopted(records))
    const back = (await read('har', text)).records
    const [first = 0, ...others] = back.flatMap((record) => (record.type === 'message' ? [record.us!] : []))
    expect(others.map((us) => us - first)).toEqual([599, 612, 4016])
    expect((await write('har', await adopted(back))).text).toBe(text)
  })

  it('keeps the status of every event that is no message, and that a stream broke off', async () => {
    const stream = { type: 'http', exchange: 0, method: 'GET', path: '/mcp', status: 200 }
    const records = tied(
      stream,
      { ...stream, sse: { id: '1' }, body: '' },
      { ...stream, sse: { id: '2' }, body: '{}' },
      { ...stream, why: 'client: closed the connection' },
    )
    const back = await read('har', (await write('har', await adopted(records))).text)
    const others = back.records.flatMap((record) => (record.type === 'http' ? [record] : []))
    expect(others.map(({ status, sse, why }) => [status, sse?.id, why])).toEqual([
      [200, undefined, undefined],
      [200, '1', undefined],
      [200, '2', undefined],
      [200, undefined, 'client: closed the connection'],
    ])
  })

  it('says which messages had no time of their own', async () => {
    const records = tied(call(1), { ...reply(1), untimed: true })
    for (const id of ['har', 'inspector', 'streamable-http', 'http-sse']) {
      expect((await write(id, await adopted(records))).said).toContain(
        'messages without a time get the time of the previous message: 1',
      )
    }
  })
})

describe('the server', () => {
  it('is the one of the first exchange that is certainly of MCP', async () => {
    const oauth = entry({
      request: { method: 'GET', url: 'https://login.example.org/.well-known/oauth-authorization-server' },
    })
    const response = { content: { mimeType: 'application/json', text: answer } }
    const mcp = entry({ startedDateTime: '2026-08-01T10:00:01.000Z', request: asked, response })
    const { records } = await read('har', archive(oauth, mcp))
    expect(records[0]).toMatchObject({
      startedAt: '2026-08-01T10:00:00.000Z',
      wiretape: { url: 'https://example.com/mcp' },
    })
    expect(records.map(({ type }) => type)).toEqual(['meta', 'http', 'message', 'message', 'end'])
    const alone = await read('har', archive(oauth))
    expect(alone.records[0]).toMatchObject({
      wiretape: { url: 'https://login.example.org/.well-known/oauth-authorization-server' },
    })
  })
})

it('an archive of no entries is an empty one', async () => {
  for (const text of ['{"log":{"entries":[]}}', '{"log":{}}']) {
    expect((await read('har', text)).records.map(({ type }) => type)).toEqual(['meta', 'end'])
  }
})

it('the answer that ends a stream of which the events have no times was there when the stream ended', async () => {
  const text = `data: ${note}\n\ndata: ${answer}\n\n`
  const response = { content: { mimeType: 'text/event-stream', text } }
  const { records } = await read('har', archive(entry({ request: asked, response })))
  const times = records.flatMap((record) => (record.type === 'message' ? [record.t.slice(-5)] : []))
  expect(times).toEqual(['.000Z', '.010Z', '.050Z'])
  const statuses = records.flatMap((record) => (record.type === 'message' ? [record.http?.status] : []))
  expect(statuses).toEqual([undefined, 200, 200])
})

it('what has a time that is none has none, among others that have', async () => {
  const answered = { content: { mimeType: 'application/json', text: answer } }
  const second = (more: Loose): Loose =>
    entry({ request: asked, response: answered, startedDateTime: '2026-08-01T10:00:01.000Z', ...more })
  const first = entry({ request: asked, startedDateTime: null })
  const { records } = await read('har', archive(first, second({ time: 1e300, timings: { wait: 1e300 } })))
  expect(records[0]).toMatchObject({ startedAt: '2026-08-01T10:00:01.000Z' })
  const messages = records.filter(({ type }) => type === 'message')
  expect(messages).toMatchObject([
    { untimed: true },
    { t: '2026-08-01T10:00:01.000Z', us: 0 },
    { t: '2026-08-01T10:00:01.000Z', untimed: true },
  ])
  expect(messages[1]).not.toHaveProperty('untimed')
})

it('half a character in a label is no reason to fail', async () => {
  const { records } = await read('jsonrpc', `${ask}\n`)
  const meta = { ...records[0], label: 'a\ud800b' } as TapeRecord
  expect((await write('har', [meta, ...records.slice(1)])).text).toContain('a%EF%BF%BDb')
})

describe('the talks in an archive of a browser', () => {
  const content = { mimeType: 'application/json', text: answer }
  /** The exchange lasts until after the start of the next one. */
  const sent = (url: string, asks?: string, says?: string): Loose => {
    const header = (value?: string): object[] =>
      value === undefined ? [] : [{ name: 'MCP-Session-Id', value }]
    return entry({
      request: { ...asked, url, headers: header(asks) },
      response: { content, headers: header(says) },
    })
  }
  async function talksOf(...entries: Loose[]): Promise<(string | undefined)[]> {
    const { records } = await read('har', archive(...entries))
    const all = (await adopted(records)).filter((record) => record.type === 'message')
    // Each has its own request, and none shares its id.
    expect(all.flatMap(({ parts }) => parts).every(({ duplicateOf }) => duplicateOf === undefined)).toBe(true)
    expect(
      all.flatMap(({ parts }) => parts).filter(({ correlatedId }) => correlatedId !== undefined),
    ).toHaveLength(entries.length)
    return all
      .filter(({ direction }) => direction === 'client_to_server')
      .map(({ conversation }) => conversation)
  }

  it('are one a server', async () => {
    expect(
      await talksOf(
        sent('https://a.example/mcp'),
        sent('https://b.example/mcp'),
        sent('https://c.example/mcp'),
      ),
    ).toEqual([undefined, 'talk-2', 'talk-3'])
  })

  it('are one a session, of which the answer to the first request tells', async () => {
    const url = 'https://a.example/mcp'
    expect(await talksOf(sent(url, undefined, 's1'), sent(url, undefined, 's2'))).toEqual([
      undefined,
      'talk-2',
    ])
    expect(await talksOf(sent(url, 's1'), sent(url, 's2', 's2'))).toEqual([undefined, 'talk-2'])
  })

  it('are one where no session is named', async () => {
    const url = 'https://a.example/mcp'
    const { records } = await read('har', archive(sent(url), sent(url, 's1')))
    expect(
      records.filter((record) => record.type === 'message').map((record) => record.conversation),
    ).toEqual(Array.from({ length: 4 }))
  })
})
