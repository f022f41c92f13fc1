import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { isMessage, openStream, post } from './http-stage.js'
import { until } from './stage.js'
import type { Line } from './tape-bytes.js'
import { call, useHeldHttp } from './hold-http-stage.js'

const { stage, record, recordEcho } = useHeldHttp()

describe.each(['json', 'events'] as const)('over HTTP, answered with %s', (as) => {
  it('values that only headers have are sent again when the request is replayed or repeated', async () => {
    const upstream = await stage.echo(as)
    writeFileSync(
      stage.path('rules.yaml'),
      "rules: [{ name: twice, when: 'is:request id:1', duplicate: true }]",
    )
    const { recorder, url } = await record(upstream.url, '--rules', 'rules.yaml')
    const said = { 'mcp-method': 'tools/call', 'mcp-name': 'echo', 'mcp-param-words': 'Malmö' }
    const sent = { ...said, 'mcp-param-words': '=?base64?TWFsbcO2?=' }
    await post(url, call(1, 'Malmö'), sent)
    await until('the copy came', () => upstream.headers.length === 2)
    expect(upstream.headers[1]).toMatchObject(sent)
    const screen = await attach(stage)
    const message = await until('it is told', () => screen.records().find(isMessage)?.['id'] as string)
    const text = JSON.stringify({ jsonrpc: '2.0', ...call(1, 'plain') })
    await screen.tell({ type: 'replay', message, text })
    expect(upstream.headers[2]).toMatchObject(sent)
    screen.close()
    await stage.end(recorder)
  })

  it('an edited request of 2026-07-28 gets the headers that it needs now, and loses its old ones', async () => {
    const { upstream, recorder, url, screen } = await recordEcho(as, '--break', 'is:request')
    const list = { id: 1, method: 'tools/list', params: {} }
    const edits = [
      {
        was: list,
        said: { 'mcp-method': 'tools/list' },
        is: call(1, 'x'),
        method: 'tools/call',
        name: 'echo',
      },
      {
        was: call(2, 'x'),
        said: { 'mcp-method': 'tools/call', 'mcp-name': 'echo' },
        is: { ...list, id: 2 },
        method: 'tools/list',
      },
      // The other era has no such headers.
      { was: { ...list, id: 3 }, said: {}, is: call(3, 'x') },
    ]
    for (const [n, { was, said, is, method, name }] of edits.entries()) {
      const got = post(url, was, said)
      const { message } = await screen.held(n + 1)
      await screen.tell({ type: 'edit', message, text: JSON.stringify({ jsonrpc: '2.0', ...is }) })
      await got
      const { 'mcp-method': sentMethod, 'mcp-name': sentName } = upstream.headers[n]!
      expect([sentMethod, sentName]).toEqual([method, name])
    }
    screen.close()
    await stage.end(recorder)
  })

  it('a person responds in place of the server; other messages pass meanwhile', async () => {
    const { recorder, url, screen } = await recordEcho(as, '--break', 'dir:in id:1')
    const got = post(url, call(1, 'x'))
    const { message } = await screen.held()
    expect((await post(url, call(2, 'y'))).text).toContain('"y"')
    await screen.tell({ type: 'answer', message, result: '{"mine":1.0}' })
    expect((await got).text).toBe('{"jsonrpc":"2.0","id":1,"result":{"mine":1.0}}')
    await stage.end(recorder)
  })

  it("a user's message is posted, and its response goes to the user's screen", async () => {
    const upstream = await stage.echo(as)
    const { recorder, url } = await record(upstream.url)
    await post(url, call(1, 'x'), {
      'mcp-session-id': 'the-session',
      authorization: 'Bearer secret-token-1234567890',
    })
    const screen = await attach(stage)
    const text = JSON.stringify({ jsonrpc: '2.0', ...call(7, 'ours') })
    const result = await screen.tell({ type: 'inject', direction: 'client_to_server', text })
    expect(JSON.parse(result['answer'])).toMatchObject({
      id: 7,
      result: { asked: { arguments: { text: 'ours' } } },
    })
    expect(upstream.headers[1]).toMatchObject({
      'mcp-session-id': 'the-session',
      authorization: 'Bearer secret-token-1234567890',
    })
    const lines = await stage.end(recorder)
    expect(lines.find((line) => line['id'] === result['message'])).toMatchObject({
      injected: true,
      dir: 'in',
    })
    expect(lines.find((line) => line['corr'] === result['message'])).toBeDefined()
  })

  it('a held message goes on when the last screen detaches', async () => {
    const { recorder, url, screen } = await recordEcho(as, '--intercept')
    const got = post(url, call(1, 'x'))
    await screen.held()
    screen.close()
    expect((await got).text).toContain('"x"')
    await stage.end(recorder)
  })
})

describe('a held request', () => {
  it('whose client disconnects is not sent, and the tape says so', async () => {
    const upstream = await stage.echo('json')
    const { recorder, url } = await record(upstream.url, '--intercept')
    const screen = await attach(stage)
    const stop = new AbortController()
    const body = JSON.stringify({ jsonrpc: '2.0', ...call(1, 'x') })
    const headers = { 'content-type': 'application/json' }
    const got = fetch(url, { method: 'POST', headers, body, signal: stop.signal }).catch(() => 'left')
    const { message } = await screen.held()
    stop.abort()
    expect(await got).toBe('left')
    const released = await screen.event('it is let go', ({ type }) => type === 'released')
    expect(released).toMatchObject({ message, outcome: 'dropped', cause: 'end' })
    expect(upstream.bodies).toEqual([])
    const lines = await stage.end(recorder)
    expect(lines.find(({ type }) => type === 'dropped')).toMatchObject({ why: 'its client disconnected' })
    expect(lines.filter(isMessage)).toEqual([])
  })
})

describe('an event stream', () => {
  it.each([
    ['of Streamable HTTP', ''],
    ['of HTTP+SSE, behind where to POST to', 'event: endpoint\ndata: ORIGIN/messages?sessionId=1\n\n'],
  ])('%s is held from its first message on', async (_, before) => {
    const message = (n: number): string => `data: {"jsonrpc":"2.0","method":"n${n}"}\n\n`
    let origin = ''
    origin = new URL(
      await stage.serve((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(before.replace('ORIGIN', origin) + message(1) + message(2))
      }),
    ).origin
    const { recorder, url } = await record(`${origin}/mcp`, '--intercept')
    const screen = await attach(stage)
    const stream = await fetch(url, { headers: { accept: 'text/event-stream' } })
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    const held = [await screen.held(1), await screen.held(2)]
    expect(held.map(({ text }) => JSON.parse(text as string) as Line)).toMatchObject([
      { method: 'n1' },
      { method: 'n2' },
    ])
    await screen.tell({ type: 'drop', message: held[0]!['message'] })
    await screen.tell({ type: 'forward', message: held[1]!['message'] })
    const expected = before.replace('ORIGIN', new URL(url).origin) + message(2)
    let came = ''
    while (came.length < expected.length) came += (await reader.read()).value ?? ''
    expect(came).toBe(expected)
    await reader.cancel()
    await stage.end(recorder)
  })

  it('that was open before is held from the next event on, and accepts injected events', async () => {
    let send: (data: string) => void = () => undefined
    const upstream = await stage.serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      send = (text) => void response.write(text)
    })
    const { recorder, url } = await record(upstream)
    const { came, close } = await openStream(url)
    const note = (n: number): string => `data: {"jsonrpc":"2.0","method":"n${n}"}\n\n`
    await until('the server is asked', () => {
      send('')
      return true
    })
    send(note(1) + note(2).slice(0, 20))
    await until('it comes', () => came().includes('n1'))
    const screen = await attach(stage)
    await screen.tell({ type: 'hold', on: true })
    send(note(2).slice(20) + note(3) + note(4))
    const held = await screen.held(2)
    expect(JSON.parse(held['text'])).toMatchObject({ method: 'n4' })
    await screen.tell({ type: 'forward', message: held['message'] })
    await until('the fourth overtakes', () => came().includes('n4'))
    expect(came()).toBe(note(1) + note(2) + note(4))
    const text = '{"jsonrpc":"2.0","method":"ours"}'
    await screen.tell({ type: 'inject', direction: 'server_to_client', text })
    await screen.tell({ type: 'hold', on: false })
    await until('all is there', () => came().includes('n3') && came().includes('ours'))
    send(note(5))
    await until('it passes', () => came().includes('n5'))
    await close()
    const lines = await stage.end(recorder)
    expect(lines.filter(isMessage).map(({ raw, injected }) => [raw.method, injected] as unknown)).toEqual([
      ['n1', undefined],
      ['n2', undefined],
      ['n4', undefined],
      ['ours', true],
      ['n3', undefined],
      ['n5', undefined],
    ])
  })
})

describe('a request whose id was changed', () => {
  it.each(['json', 'events'] as const)('gets its response under the original id, with %s', async (as) => {
    const { upstream, recorder, url, screen } = await recordEcho(as, '--break', 'is:request')
    const got = post(url, call(7, 'x'))
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('"id":7', '"id":99') })
    const { text: answer } = await got
    expect(answer).toContain('{"jsonrpc":"2.0","id":7,"result"')
    expect(JSON.parse(upstream.bodies[0]!)).toMatchObject({ id: 99 })
    screen.close()
    const lines = await stage.end(recorder)
    expect(lines.find((line) => line['corr'] === message)).toMatchObject({
      raw: { id: 7 },
      original: { id: 99 },
      modified: true,
    })
  })
})

describe('a body that cannot be gated', () => {
  it('passes, with a notice on screens and on the tape', async () => {
    const answer = '{"jsonrpc":"2.0","id":1,"result":{}}'
    const upstream = await stage.serve((_, response) => {
      const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }
      response.writeHead(200, headers).end(gzipSync(`data: ${answer}\n\n`))
    })
    const { recorder, url } = await record(upstream, '--break', 'is:answer')
    const screen = await attach(stage)
    expect((await post(url, call(1, 'x'))).text).toContain(answer)
    const words =
      /^a response was forwarded without .* content coding gzip cannot be inspected \(exchange 0\)$/
    const notice = await screen.event('it is told', ({ type }) => type === 'notice')
    expect(notice).toMatchObject({ message: expect.stringMatching(words) })
    screen.close()
    const lines = await stage.end(recorder)
    expect(lines.find(({ type }) => type === 'note')).toMatchObject({ text: expect.stringMatching(words) })
  })
})

describe('a conversation', () => {
  it('has one name in held events and on the tape, and messages can be sent to that name', async () => {
    const upstream = await stage.echo('json')
    const { recorder, url } = await record(upstream.url, '--break', 'is:request')
    const screen = await attach(stage)
    const got = post(url, call(1, 'x'), { 'mcp-session-id': 'the-session' })
    const { message, conversation } = await screen.held()
    await screen.tell({ type: 'forward', message })
    await got
    const text = JSON.stringify({ jsonrpc: '2.0', ...call(7, 'ours') })
    await screen.tell({ type: 'inject', direction: 'client_to_server', text, conversation })
    expect(upstream.headers[1]).toMatchObject({ 'mcp-session-id': 'the-session' })
    screen.close()
    const lines = (await stage.end(recorder)).filter(isMessage)
    expect(new Set(lines.map(({ conv }) => conv as string))).toEqual(new Set([conversation]))
  })
})

describe('a request that passed before holding began', () => {
  it('is known: its response matches filters about the request, and its id is in use', async () => {
    let answer = (): void => undefined
    const upstream = await stage.serve((_, response) => {
      answer = () => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
      }
    })
    const { recorder, url } = await record(upstream)
    const screen = await attach(stage)
    const got = post(url, call(1, 'x'))
    await until('it is told', () => screen.records().some(isMessage))
    const text = JSON.stringify({ jsonrpc: '2.0', ...call(1, 'ours') })
    const { error } = await screen.ask({ type: 'inject', direction: 'client_to_server', text })
    expect(error).toMatchObject({ code: 'invalid' })
    await screen.tell({ type: 'breakpoints', filters: ['tool:echo dir:out'] })
    await screen.tell({ type: 'hold', on: true })
    answer()
    const held = await screen.held()
    expect(held).toMatchObject({ reason: 'breakpoint', direction: 'server_to_client' })
    await screen.tell({ type: 'forward', message: held['message'] })
    expect((await got).text).toContain('"result":{}')
    screen.close()
    await stage.end(recorder)
  })
})
