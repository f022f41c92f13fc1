/** All pairs of transports between a client and a server: one server that echoes, one minimal client. */
import http, { type RequestListener } from 'node:http'

import type { HttpStage } from './http-stage.js'
import { cli, printed, readIfThere, server, until, type Actor } from './stage.js'
import type { Line } from './tape-bytes.js'

/** A client and a server with a recorder between them. */
export interface Play {
  readonly recorder: Actor
  /** Sends a request and resolves with the outcome: text with the response in it, or the reason for its absence. */
  ask(id: number, args: object): Promise<string>
  /** Requests that reached the server. */
  reached(): Line[]
  /** Ends the session and returns the tape. */
  end(): Promise<Line[]>
}

export const transports = [
  'stdio',
  'Streamable HTTP, 2025',
  'Streamable HTTP, 2026',
  'HTTP+SSE',
  'a forward proxy',
  'a bridge to HTTP',
  'a bridge to stdio',
] as const
export type TransportName = (typeof transports)[number]

const info = { name: 'echo', version: '1' }
const welcome = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: info }
const hello = {
  jsonrpc: '2.0',
  id: 1000,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info },
}

function call(id: number, args: object, modern = false): Line {
  const meta = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }
  const params = { name: 'echo', arguments: args, ...(modern && meta) }
  return { jsonrpc: '2.0', id, method: 'tools/call', params }
}

function resultOf({ method, params = null }: Line): object {
  return method === 'initialize' ? welcome : { asked: params as unknown }
}

export function startPlay(stage: HttpStage, name: TransportName, options: readonly string[]): Promise<Play> {
  switch (name) {
    case 'stdio':
      return onStdio(stage, stage.record(server('echo-params.mjs', stage.path('reached')), options), () =>
        linesOf(stage.path('reached')),
      )
    case 'a bridge to HTTP':
      return bridgeToHttp(stage, options)
    case 'a bridge to stdio':
      return bridgeToStdio(stage, options)
    case 'a forward proxy':
      return forwardProxy(stage, options)
    case 'HTTP+SSE':
      return legacy(stage, options)
    case 'Streamable HTTP, 2025':
    case 'Streamable HTTP, 2026':
      return streamable(stage, options, name.endsWith('2026'))
  }
}

const linesOf = (path: string): Line[] =>
  readIfThere(path)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

/** A client on stdio; finds responses by their id. */
async function onStdio(stage: HttpStage, argv: readonly string[], reached: () => Line[]): Promise<Play> {
  const recorder = stage.start(argv)
  let over = false
  void recorder.ended.then(() => (over = true))
  recorder.output.on('end', () => (over = true))
  const answer = (id: number): string | undefined =>
    recorder
      .stdout()
      .toString()
      .split('\n')
      .find((line) => line.includes(`"id":${id},`))
  const send = (message: object): Promise<void> => recorder.send(`${JSON.stringify(message)}\n`)
  await send(hello)
  await until('the server says hello', () => answer(1000))
  return {
    recorder,
    async ask(id, args) {
      await send(call(id, args))
      // A dropped request never gets a response, so the next request marks the end of the wait.
      await send(call(id + 500, {}))
      await until('what was asked next is answered', () => over || answer(id + 500))
      return until(
        `an answer to ${id}, or none`,
        () => answer(id) ?? (over || isDropped(stage, id) ? 'none' : undefined),
      )
    },
    reached,
    async end() {
      recorder.stdin.end()
      await recorder.ended
      return linesOf(stage.tape())
    },
  }
}

function isDropped(stage: HttpStage, id: number): boolean {
  const lines = linesOf(stage.tape())
  const held = lines.find((line) => line['type'] === 'held' && (line['raw'] as Line)['id'] === id)
  return lines.some((line) => line['type'] === 'dropped' && line['id'] === held?.['id'])
}

interface HttpEcho {
  readonly url: string
  readonly bodies: Line[]
}

async function httpEcho(stage: HttpStage): Promise<HttpEcho> {
  const bodies: Line[] = []
  const url = await stage.serve((request, response) => {
    void bodyOf(request).then((body) => {
      if (request.method !== 'POST') return response.writeHead(405).end()
      const message = JSON.parse(body) as Line
      bodies.push({ ...message, headers: request.headers })
      const { id } = message
      if (id === undefined) return response.writeHead(202).end()
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(message) })
      // Alternates, so that both forms of response occur.
      if (bodies.length % 2 === 0) {
        response.writeHead(200, { 'content-type': 'application/json' })
        return response.end(answer)
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return response.end(`event: message\ndata: ${answer}\n\n`)
    })
  })
  return { url, bodies }
}

async function bodyOf(request: AsyncIterable<unknown>): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

function post(url: string, message: object, headers: Record<string, string>, proxy?: URL): Promise<string> {
  const to = new URL(url)
  const place = proxy
    ? { host: proxy.hostname, port: proxy.port, path: url }
    : { host: to.hostname, port: to.port, path: to.pathname + to.search }
  return new Promise((done) => {
    const failed = (error: Error): void => done(`none: ${error.message}`)
    const request = http.request(
      {
        ...place,
        method: 'POST',
        agent: false,
        headers: {
          host: to.host,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      },
      (response) => void bodyOf(response).then(done, failed),
    )
    request.on('error', failed)
    request.end(JSON.stringify(message))
  })
}

const said = (modern: boolean, method: string, name?: string): Record<string, string> =>
  modern
    ? {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(name !== undefined && { 'mcp-name': name }),
      }
    : { 'mcp-session-id': 'the-session' }

async function overHttp(
  stage: HttpStage,
  recorder: Actor,
  url: string,
  reached: () => Line[],
  { modern = false, proxy }: { modern?: boolean; proxy?: URL } = {},
): Promise<Play> {
  if (!modern) await post(url, hello, {}, proxy)
  return {
    recorder,
    ask: (id, args) => post(url, call(id, args, modern), said(modern, 'tools/call', 'echo'), proxy),
    reached,
    async end() {
      recorder.child.kill('SIGTERM')
      await recorder.ended
      return linesOf(stage.tape())
    },
  }
}

async function streamable(stage: HttpStage, options: readonly string[], modern: boolean): Promise<Play> {
  const echo = await httpEcho(stage)
  const { recorder, url } = await stage.recordUrl(echo.url, options)
  return overHttp(stage, recorder, url, () => echo.bodies, { modern })
}

async function forwardProxy(stage: HttpStage, options: readonly string[]): Promise<Play> {
  const echo = await httpEcho(stage)
  const argv = [cli, 'record', '--forward', '--listen', '127.0.0.1:0', '--out', stage.out, ...options]
  const recorder = stage.start([process.execPath, ...argv], { detached: true })
  const named = await until('the proxy is named', () =>
    /HTTP_PROXY='?(http:[^'\s]+)/.exec(recorder.stdout().toString()),
  )
  return overHttp(stage, recorder, echo.url, () => echo.bodies, { proxy: new URL(named![1]!) })
}

async function bridgeToHttp(stage: HttpStage, options: readonly string[]): Promise<Play> {
  const echo = await httpEcho(stage)
  const argv = [
    process.execPath,
    cli,
    'record',
    '--bridge',
    '--url',
    echo.url,
    '--out',
    stage.out,
    ...options,
  ]
  return onStdio(stage, argv, () => echo.bodies)
}

async function bridgeToStdio(stage: HttpStage, options: readonly string[]): Promise<Play> {
  const file = stage.path('reached')
  const argv = [cli, 'record', '--listen', '127.0.0.1:0', '--out', stage.out, ...options, '--']
  const recorder = stage.start([process.execPath, ...argv, ...server('echo-params.mjs', file)], {
    detached: true,
  })
  await printed(recorder, '\n')
  const url = recorder.stdout().toString().trim()
  const session = await openSession(url)
  return {
    ...(await overHttp(stage, recorder, url, () => linesOf(file), { modern: true })),
    ask: (id, args) =>
      post(url, call(id, args), { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
  }
}

async function openSession(url: string): Promise<string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(hello) })
  await response.text()
  return response.headers.get('mcp-session-id') ?? ''
}

/** The server of 2024-11-05: responses come on the stream, a POST gets 202. */
async function legacy(stage: HttpStage, options: readonly string[]): Promise<Play> {
  const bodies: Line[] = []
  let say: (text: string) => void = () => undefined
  const listener: RequestListener = (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: endpoint\ndata: /messages?sessionId=s-1\n\n')
      say = (text) => void response.write(`event: message\ndata: ${text}\n\n`)
      return
    }
    void bodyOf(request).then((body) => {
      const message = JSON.parse(body) as Line
      bodies.push(message)
      response.writeHead(202).end('Accepted')
      const { id } = message
      if (id !== undefined) say(JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(message) }))
    })
  }
  const upstream = await stage.serve(listener)
  const { recorder, url } = await stage.recordUrl(upstream, options)
  const stream = await fetch(url, { headers: { accept: 'text/event-stream' } })
  let came = ''
  let over = false
  void (async () => {
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) came += chunk
  })()
    .catch(() => undefined)
    .finally(() => (over = true))
  const endpoint = await until('it says where to POST', () => /^data: (\/messages.*)$/m.exec(came)?.[1])
  const to = new URL(endpoint, url).href
  await post(to, hello, {})
  const answer = (id: number): string | undefined =>
    came.split('\n').find((line) => line.startsWith('data:') && line.includes(`"id":${id},`))
  return {
    recorder,
    async ask(id, args) {
      const got = await post(to, call(id, args), {})
      if (got.startsWith('none')) return got
      return until(`an answer to ${id}`, () => answer(id) ?? (over ? 'none' : undefined))
    },
    reached: () => bodies,
    async end() {
      recorder.child.kill('SIGTERM')
      await recorder.ended
      return linesOf(stage.tape())
    },
  }
}
