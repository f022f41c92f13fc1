/** Every recorded message is gated first: responses of any status and type, and their requests. */
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { isMessage, post, useHttpStage } from './http-stage.js'
import type { Line } from './tape-bytes.js'

const stage = useHttpStage()

/** Kinds of HTTP responses; the message names the kind it wants. */
const kinds: Record<string, (text: string, response: ServerResponse) => void> = {
  202: json(202),
  400: json(400),
  404: json(404),
  500: json(500),
  'no type': (text, response) => void response.writeHead(200, {}).end(text),
  'plain text': (text, response) => void response.writeHead(403, { 'content-type': 'text/plain' }).end(text),
  'gzip without a type': (text, response) =>
    void response.writeHead(400, { 'content-encoding': 'gzip' }).end(gzipSync(text)),
  'events with status 201': (text, response) =>
    void response.writeHead(201, { 'content-type': 'text/event-stream' }).end(`data: ${text}\n\n`),
  'events with a length': (text, response) => {
    const body = `data: ${text}\n\n`
    const headers = { 'content-type': 'text/event-stream', 'content-length': Buffer.byteLength(body) }
    response.writeHead(200, headers).end(body)
  },
}

function json(status: number): (text: string, response: ServerResponse) => void {
  return (text, response) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    response.writeHead(status, headers).end(text)
  }
}

const statusOf = (kind: string): number =>
  Number(/\d{3}/.exec(kind)?.[0] ?? { 'plain text': 403, 'gzip without a type': 400 }[kind] ?? 200)

function serveKinds(): Promise<string> {
  return stage.serve((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { id, params } = JSON.parse(body) as Line
      const error = { code: -32020, message: `said ${JSON.stringify(params)}` }
      kinds[(params as Line)['kind'] as string]!(JSON.stringify({ jsonrpc: '2.0', id, error }), response)
    })
  })
}

let asked = 0
const ask = (method: string, kind: string): object => ({ id: ++asked, method, params: { kind } })

describe('a response over HTTP of any status, type or form', () => {
  it('is changed, delayed, dropped, cut off, held and edited like one with 200 and JSON', async () => {
    const actions = {
      swap: 'replace: { pattern: said, with: SWAPPED }',
      late: 'delay: 10ms',
      lose: 'drop: true',
      cut: 'disconnect: true',
      look: 'hold: true',
    }
    const names = Object.keys(actions)
    const rules = Object.entries(actions).map(
      ([name, action]) => `{ name: ${name}, when: 'method:${name}', on: answers, ${action} }`,
    )
    const { recorder, url } = await stage.recordUrl(await serveKinds(), [], `rules: [${rules.join(',')}]`)
    const screen = await attach(stage)
    let looks = 0
    for (const kind of Object.keys(kinds)) {
      const swapped = await post(url, ask('swap', kind))
      const late = await post(url, ask('late', kind))
      const lost = await post(url, ask('lose', kind))
      const cut = await post(url, ask('cut', kind)).catch((error: unknown) => error)
      const held = post(url, ask('look', kind))
      const { message, text } = await screen.event(`${kind} is held`, ({ by }) => by === 'look', ++looks)
      await screen.tell({ type: 'edit', message, text: text.replace('said', 'EDITED') })
      const wordIn = (got: { text: string }): string | undefined => /SWAPPED|EDITED|said/.exec(got.text)?.[0]
      const status = statusOf(kind)
      const edited = await held
      expect({
        kind,
        words: [swapped, late, lost, edited].map(wordIn),
        statuses: [swapped, late, edited].map((got) => got.status),
        cut,
      }).toEqual({
        kind,
        words: ['SWAPPED', 'said', undefined, 'EDITED'],
        statuses: [status, status, status],
        cut: expect.any(TypeError) as unknown,
      })
    }
    expect(screen.events.filter(({ type }) => type === 'notice')).toEqual([])
    screen.close()
    const ruled = (await stage.end(recorder)).filter(
      ({ rule, type }) => rule !== undefined && type !== 'held',
    )
    const fates = ruled.filter(({ injected }) => !injected)
    expect(fates.map(({ rule }) => rule as string)).toEqual(Object.keys(kinds).flatMap(() => names))
    const changed = ruled.filter((line) => isMessage(line) && line['modified'])
    expect(changed.map(({ http }) => (http as Line)['status'] as number)).toEqual(
      Object.keys(kinds).flatMap((kind) => [statusOf(kind), statusOf(kind)]),
    )
  })
})

describe('a request over HTTP', () => {
  it.each(['text/plain', undefined, 'application/json-rpc'])('of content type %s is gated', async (type) => {
    const upstream = await stage.echo('json')
    const { recorder, url } = await stage.recordUrl(
      upstream.url,
      [],
      `rules: [{ name: swap, when: 'is:request', replace: { pattern: secret, with: CHANGED } }]`,
    )
    const text = `\r\n {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"secret"}}`
    const response = await fetch(url, {
      method: 'POST',
      headers: type === undefined ? {} : { 'content-type': type },
      body: Buffer.from(text),
    })
    expect(await response.text()).toContain('CHANGED')
    expect(upstream.bodies).toHaveLength(1)
    await stage.end(recorder)
  })
})

describe('a body that is not a JSON-RPC message', () => {
  it('passes unchanged, though everything is held', async () => {
    let more: () => void = () => undefined
    const came: string[] = []
    const upstream = await stage.serve((request, response) => {
      request.on('data', (chunk) => came.push(String(chunk)))
      request.on('end', () => {
        response.writeHead(200, { 'content-type': 'text/plain' })
        response.write('first')
        more = () => void response.end(' last')
      })
    })
    const { recorder, url } = await stage.recordUrl(upstream, ['--intercept'])
    const screen = await attach(stage)
    const response = await fetch(url, { method: 'POST', body: 'a=1&b=2' })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toBe('first')
    more()
    expect((await reader.read()).value).toBe(' last')
    expect(came).toEqual(['a=1&b=2'])
    expect(screen.events.filter(({ type }) => type === 'held' || type === 'notice')).toEqual([])
    screen.close()
    await stage.end(recorder)
  })

  it('passes unchanged if it is a stream of JSON texts, and a notice says so', async () => {
    const upstream = await stage.serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write('{"jsonrpc":"2.0","method":"x"}\n')
    })
    const { recorder, url } = await stage.recordUrl(upstream, ['--intercept'])
    const screen = await attach(stage)
    const response = await fetch(url)
    const { value } = await response.body!.pipeThrough(new TextDecoderStream()).getReader().read()
    expect(value).toContain('"method":"x"')
    const { message } = await screen.event('it says so', ({ type }) => type === 'notice')
    expect(message).toContain('a stream of JSON texts cannot be inspected')
    screen.close()
    await stage.end(recorder)
  })

  it('still gets our URL in OAuth metadata', async () => {
    let origin = ''
    const upstream = await stage.serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ resource: `${origin}/mcp`, authorization_servers: [origin] }))
    })
    origin = new URL(upstream).origin
    const { recorder, url } = await stage.recordUrl(upstream, ['--intercept'])
    const ours = new URL(url).origin
    const metadata = await fetch(`${ours}/.well-known/oauth-protected-resource/mcp`)
    expect(await metadata.json()).toMatchObject({ resource: `${ours}/mcp` })
    await stage.end(recorder)
  })
})
