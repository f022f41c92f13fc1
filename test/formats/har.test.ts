import { describe, expect, it } from 'vitest'
import type { TapeRecord } from '../../src/model/index.js'
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
    expect(said).toEqual(['exchanges that are none of MCP are passed over: 2'])
    await expect(read('har', archive(page))).rejects.toThrow('its only exchange is none of MCP')
    await expect(read('har', archive(page, page))).rejects.toThrow('none of its 2 exchanges is one of MCP')
    await expect(read('har', '{"hello":1}')).rejects.toThrow('it holds no "log"')
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
    expect(said).toEqual(['the URLs are made up, stdio has none: 1'])
    expect(JSON.parse(text).log.entries[0].request.url).toBe('http://stdio.invalid/a%20b%2Fc')
    const back = await read('har', text)
    expect(back.records[0]).toMatchObject({ label: 'a b/c', wiretape: { transport: 'stdio', url: null } })
    expect(await spoken(back.records)).toEqual(await spoken(stdio))
  })
})
