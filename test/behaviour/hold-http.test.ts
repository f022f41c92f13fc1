import { Client } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client2025 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport2025 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { createHttpStage, isMessage, openStream, post, type HttpStage } from './http-stage.js'
import { printed, server, until, type Actor } from './stage.js'
import type { Line } from './tape-bytes.js'

let stage: HttpStage
beforeEach(() => {
  stage = createHttpStage()
})
afterEach(() => stage.close())

const record = (upstream: string, ...options: string[]): ReturnType<HttpStage['recordUrl']> =>
  stage.recordUrl(upstream, options)
const echo = (as: 'json' | 'events'): ReturnType<HttpStage['echo']> => stage.echo(as)
const end = (recorder: Actor): Promise<Line[]> => stage.end(recorder)

const call = (id: number, text: string): object => ({
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text } },
})

describe('the official client of 2026-07-28', () => {
  it('gets the answer to the edited call, whose headers agree with it', async () => {
    const upstream = stage.start(server('sdk-modern-http.mjs'))
    await printed(upstream, '\n')
    const { recorder, url } = await record(
      upstream.stdout().toString().split('\n')[0]!,
      '--break',
      'method:tools/call is:request',
    )
    const client = new Client(
      { name: 'c', version: '1' },
      { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    await client.listTools()
    const screen = await attach(stage)
    const answer = client.callTool({ name: 'echo', arguments: { text: 'before', place: 'Malmö' } })
    const held = await screen.held()
    expect(held).toMatchObject({ exchange: expect.any(Number), direction: 'client_to_server' })
    const text = held['text'].replace('before', 'after').replace('Malmö', 'Åbo')
    await screen.tell({ type: 'edit', message: held['message'], text })
    expect(JSON.stringify(await answer)).toContain('after')
    const lines = await end(recorder)
    await client.close()
    const sent = lines.find((line) => isMessage(line) && line['modified'])
    expect(sent).toMatchObject({
      id: held['message'],
      raw: { params: { arguments: { text: 'after', place: 'Åbo' } } },
      original: { params: { arguments: { text: 'before', place: 'Malmö' } } },
    })
    expect(lines.find((line) => line['corr'] === held['message'])).toBeDefined()
  })
})

describe('the official client of 2025-11-25', () => {
  it('gets the answer to the edited call, and an edited answer in its stream', async () => {
    const upstream = stage.start(server('sdk-resumable-http.mjs'))
    await printed(upstream, '\n')
    const { recorder, url } = await record(upstream.stdout().toString().split('\n')[0]!)
    const client = new Client2025({ name: 'c', version: '1' })
    await client.connect(new Transport2025(new URL(url)))
    const { tools } = await client.listTools()
    expect(tools.length).toBeGreaterThan(0)
    const screen = await attach(stage)
    await screen.tell({ type: 'breakpoints', filters: ['method:ping'] })
    await screen.tell({ type: 'hold', on: true })
    const answer = client.ping()
    await screen.tell({ type: 'forward', message: (await screen.held())['message'] })
    const held = await screen.held(2)
    expect(held).toMatchObject({ direction: 'server_to_client' })
    await screen.tell({
      type: 'edit',
      message: held['message'],
      text: held['text'].replace('"result":{}', '"result":{"_meta":{"edited":true}}'),
    })
    expect(await answer).toEqual({ _meta: { edited: true } })
    const lines = await end(recorder)
    await client.close()
    expect(lines.find((line) => isMessage(line) && line['modified'])).toMatchObject({
      dir: 'out',
      raw: { result: { _meta: { edited: true } } },
      original: { result: {} },
    })
  })
})

describe.each(['json', 'events'] as const)('over HTTP, answered with %s', (as) => {
  it('a held request goes on with another body and length', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(upstream.url, '--break', 'is:request')
    const screen = await attach(stage)
    const got = post(url, call(1, 'before'), { 'mcp-method': 'tools/call', 'mcp-param-words': 'before' })
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('before', 'much later') })
    expect((await got).text).toContain('much later')
    expect(JSON.parse(upstream.bodies[0]!)).toMatchObject({ params: { arguments: { text: 'much later' } } })
    expect(upstream.headers[0]).toMatchObject({
      // No list of tools has passed that says which argument this header repeats.
      'mcp-param-words': 'before',
      'content-length': String(Buffer.byteLength(upstream.bodies[0]!)),
    })
    const lines = await end(recorder)
    expect(lines.filter(isMessage)[0]).toMatchObject({ id: message, seq: 0, modified: true })
  })

  it('an answer is held, edited and passed on in its place', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(upstream.url, '--break', 'is:answer')
    const screen = await attach(stage)
    const got = post(url, call(1, 'x'))
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('"x"', '"changed on its way"') })
    const { status, text: body } = await got
    expect(status).toBe(200)
    expect(body).toContain('changed on its way')
    if (as === 'events') expect(body).toMatch(/^id: 1\ndata: .*\n\nid: 2\nevent: message\ndata: .*\n\n$/)
    const lines = await end(recorder)
    expect(lines.find((line) => line['modified'])).toMatchObject({
      id: message,
      corr: lines.find(isMessage)!['id'],
    })
  })

  it('a dropped request is answered by us, and never reaches the server', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(upstream.url, '--break', 'tool:echo is:request')
    const screen = await attach(stage)
    const got = post(url, call(1, 'x'))
    await screen.tell({ type: 'drop', message: (await screen.held())['message'] })
    const { status, text } = await got
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({
      id: 1,
      error: { code: -32000, message: expect.stringContaining('wiretape') },
    })
    expect(upstream.bodies).toEqual([])
    const lines = await end(recorder)
    expect(lines.map(({ type }) => type as unknown)).toEqual([
      'meta',
      'held',
      'dropped',
      undefined,
      'http',
      'end',
    ])
    expect(lines[3]).toMatchObject({ dir: 'out', injected: true, corr: lines[1]!['id'] })
  })

  it('what only headers say of a request is said again when it is replayed or repeated', async () => {
    const upstream = await echo(as)
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
    await end(recorder)
  })

  it('an edited request of 2026-07-28 gets the headers that it needs now, and loses those that it had', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(upstream.url, '--break', 'is:request')
    const screen = await attach(stage)
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
      // Of another era: no such headers.
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
    await end(recorder)
  })

  it('a person answers in the place of the server; others pass meanwhile', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(upstream.url, '--break', 'dir:in id:1')
    const screen = await attach(stage)
    const got = post(url, call(1, 'x'))
    const { message } = await screen.held()
    expect((await post(url, call(2, 'y'))).text).toContain('"y"')
    await screen.tell({ type: 'answer', message, result: '{"mine":1.0}' })
    expect((await got).text).toBe('{"jsonrpc":"2.0","id":1,"result":{"mine":1.0}}')
    await end(recorder)
  })

  it('a message of ours is posted, and its answer comes to whoever sent it', async () => {
    const upstream = await echo(as)
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
    const lines = await end(recorder)
    expect(lines.find((line) => line['id'] === result['message'])).toMatchObject({
      injected: true,
      dir: 'in',
    })
    expect(lines.find((line) => line['corr'] === result['message'])).toBeDefined()
  })

  it('what is held goes on when the last screen goes', async () => {
    const upstream = await echo(as)
    const { recorder, url } = await record(upstream.url, '--intercept')
    const screen = await attach(stage)
    const got = post(url, call(1, 'x'))
    await screen.held()
    screen.close()
    expect((await got).text).toContain('"x"')
    await end(recorder)
  })

  it('rules change, answer and drop without anybody', async () => {
    const upstream = await echo(as)
    writeFileSync(
      stage.path('rules.yaml'),
      `rules:
        - { name: swap, when: 'id:1 is:request', set: { '$.params.arguments.text': SWAPPED } }
        - { name: block, when: 'id:2 is:request', respond: { error: { code: -1, message: blocked } } }
        - { name: lose, when: 'id:3 is:request', drop: true }
        - { name: later, when: 'id:4 is:request', delay: 50ms }
        - { name: mask, when: 'id:5 is:result', set: { '$.result.asked': null } }`,
    )
    const { recorder, url } = await record(upstream.url, '--rules', 'rules.yaml')
    expect((await post(url, call(1, 'x'))).text).toContain('SWAPPED')
    expect(JSON.parse((await post(url, call(2, 'x'))).text)).toMatchObject({
      error: { code: -1, message: 'blocked' },
    })
    expect((await post(url, call(3, 'x'))).text).toContain('-32000')
    expect((await post(url, call(4, 'x'))).text).toContain('"x"')
    expect((await post(url, call(5, 'x'))).text).toContain('"asked":null')
    const lines = await end(recorder)
    const ruled = lines.filter(isMessage).map((line) => line['rule'] as unknown)
    expect(ruled.filter((rule) => rule !== undefined)).toEqual(['swap', 'block', 'lose', 'later', 'mask'])
  })
})

describe('a held answer', () => {
  it('that is dropped is an error for its client, which the tape has', async () => {
    const upstream = await echo('json')
    const { recorder, url } = await record(upstream.url, '--break', 'is:answer')
    const screen = await attach(stage)
    const got = post(url, call(1, 'x'))
    await screen.tell({ type: 'drop', message: (await screen.held())['message'] })
    const { text } = await got
    expect(text).toContain('wiretape: dropped: by a person')
    const lines = await end(recorder)
    const ours = lines.filter((line) => isMessage(line) && line['injected'])
    expect(ours).toMatchObject([
      { dir: 'out', raw: JSON.parse(text) as Line, corr: lines.find(isMessage)!['id'] },
    ])
  })
})

describe('a held request', () => {
  it('whose client leaves goes nowhere, and says so', async () => {
    const upstream = await echo('json')
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
    const lines = await end(recorder)
    expect(lines.find(({ type }) => type === 'dropped')).toMatchObject({ why: 'its client disconnected' })
    expect(lines.filter(isMessage)).toEqual([])
  })

  it('can be let go at the end of the session, which does not wait for it', async () => {
    const upstream = await echo('json')
    const { recorder, url } = await record(upstream.url, '--intercept')
    const got = post(url, call(1, 'x')).catch(() => 'broken')
    const screen = await attach(stage)
    await screen.held()
    const lines = await end(recorder)
    await got
    expect(lines.some(({ type }) => type === 'dropped')).toBe(true)
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
    await end(recorder)
  })

  it('that was open before is held from the next event on, and takes events of ours', async () => {
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
    const lines = await end(recorder)
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

describe('a request of another id', () => {
  it.each(['json', 'events'] as const)('is answered to its client under its own, with %s', async (as) => {
    const upstream = await echo(as)
    const { recorder, url } = await record(upstream.url, '--break', 'is:request')
    const screen = await attach(stage)
    const got = post(url, call(7, 'x'))
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('"id":7', '"id":99') })
    const { text: answer } = await got
    expect(answer).toContain('{"jsonrpc":"2.0","id":7,"result"')
    expect(JSON.parse(upstream.bodies[0]!)).toMatchObject({ id: 99 })
    screen.close()
    const lines = await end(recorder)
    expect(lines.find((line) => line['corr'] === message)).toMatchObject({
      raw: { id: 7 },
      original: { id: 99 },
      modified: true,
    })
  })
})

describe('what cannot be looked at', () => {
  it('passes, and screens and the tape are told', async () => {
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
    const lines = await end(recorder)
    expect(lines.find(({ type }) => type === 'note')).toMatchObject({ text: expect.stringMatching(words) })
  })
})

describe('a conversation', () => {
  it('is called the same by what is held and by the tape, and can be spoken to by that name', async () => {
    const upstream = await echo('json')
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
    const lines = (await end(recorder)).filter(isMessage)
    expect(new Set(lines.map(({ conv }) => conv as string))).toEqual(new Set([conversation]))
  })
})

describe('a request that passed before anybody held anything', () => {
  it('is known: its answer is found by what was asked, and its id is taken', async () => {
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
    await end(recorder)
  })
})
