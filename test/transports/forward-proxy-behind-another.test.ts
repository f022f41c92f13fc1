import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLeafCertificates, makeAuthority } from '../../src/capture/trust/certificates.js'
import type { ForwardProxyOptions, UpstreamProxy } from '../../src/transports/index.js'
import { leaf, ours, startOurProxy, theirs } from './forward-proxy-stage.js'

const closers: (() => unknown)[] = []
beforeEach(() => closers.splice(0))
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const answering: http.RequestListener = (request, response) =>
  void response.end(
    `${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? 'no login'}`,
  )

/** Another proxy, as companies have; `asked` has its requests. */
async function companyProxy(secure = false): Promise<{ asked: string[]; proxy: UpstreamProxy }> {
  const asked: string[] = []
  const server = secure ? https.createServer({ key: leaf.key, cert: leaf.certificate }) : http.createServer()
  const note = ({ method, url, headers }: http.IncomingMessage): boolean => {
    asked.push(`${method} ${url} ${headers['proxy-authorization'] ?? 'no login'}`)
    return headers['proxy-authorization'] === 'Basic YTpi'
  }
  server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    if (!note(request)) return response.writeHead(407).end()
    return http.get(request.url!, (answer) => answer.pipe(response))
  })
  server.on('connect', (request: http.IncomingMessage, socket: Socket) => {
    socket.on('error', () => undefined)
    if (!note(request)) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const [host, port] = request.url!.split(':')
    const upstream = net.connect({ host: host!, port: Number(port) }, () => {
      socket.write('HTTP/1.1 200 Yes\r\nX-More: 1\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    upstream.on('error', () => socket.destroy())
  })
  const port = await listen(server)
  return { asked, proxy: { hostname: 'localhost', port, secure, authorization: 'Basic YTpi' } }
}

async function proxyBehind(
  proxy: UpstreamProxy | undefined,
  options: Partial<ForwardProxyOptions> = {},
): Promise<number> {
  const started = await startOurProxy({ proxyFor: () => proxy, ...options })
  closers.push(() => started.close())
  return Number(new URL(started.url).port)
}

async function ask(options: http.RequestOptions, secured = false): Promise<string> {
  const request = secured ? https.request(options) : http.request(options)
  request.end()
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage]
  return `${answer.statusCode} ${await text(answer)}`
}

/** Through a tunnel of ours. */
async function tunnel(port: number, place: string): Promise<Socket> {
  const request = http.request({ host: '127.0.0.1', port, method: 'CONNECT', path: place })
  request.end()
  const [answer, socket] = (await once(request, 'connect')) as [http.IncomingMessage, Socket]
  expect(answer.statusCode).toBe(200)
  closers.push(() => socket.destroy())
  return socket
}

const askInTls = async (port: number, place: string, ca: string): Promise<string> => {
  const socket = tls.connect({ socket: await tunnel(port, place), servername: 'localhost', ca })
  return ask({ createConnection: () => socket, path: '/x', headers: { Host: place } })
}

describe.each([false, true])('behind another proxy, spoken to in TLS: %s', (secure) => {
  it('asks it for whole URLs of plain HTTP, with its login and not the one that the client has for us', async () => {
    const upstream = await listen(http.createServer(answering))
    const { asked, proxy } = await companyProxy(secure)
    const port = await proxyBehind(proxy)
    const place = `http://localhost:${upstream}/a?b=1`
    const headers = { 'Proxy-Authorization': 'Basic b3VyczpvdXJz' }
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    closers.push(() => agent.destroy())
    for (let n = 0; n < 2; n += 1)
      expect(await ask({ host: '127.0.0.1', port, path: place, headers, agent })).toBe(
        '200 GET /a?b=1 no login',
      )
    expect(asked).toEqual([`GET ${place} Basic YTpi`, `GET ${place} Basic YTpi`])
  })

  it('looks into TLS all the same, and the server has to prove who it is', async () => {
    const upstream = await listen(https.createServer({ key: leaf.key, cert: leaf.certificate }, answering))
    const { asked, proxy } = await companyProxy(secure)
    const port = await proxyBehind(proxy)
    expect(await askInTls(port, `localhost:${upstream}`, ours.certificate)).toBe('200 GET /x no login')
    expect(asked).toEqual([`CONNECT localhost:${upstream} Basic YTpi`])
    const stranger = await createLeafCertificates(await makeAuthority(new Date())).of('localhost')
    const other = await listen(
      https.createServer({ key: stranger.key, cert: stranger.certificate }, answering),
    )
    expect(await askInTls(port, `localhost:${other}`, ours.certificate)).toMatch(/^502 .*certificate/s)
  })

  it('tunnels through it what nobody looks at', async () => {
    const upstream = await listen(https.createServer({ key: leaf.key, cert: leaf.certificate }, answering))
    const { asked, proxy } = await companyProxy(secure)
    const port = await proxyBehind(proxy, { tunnelled: () => 'skipped' })
    expect(await askInTls(port, `localhost:${upstream}`, theirs.certificate)).toBe('200 GET /x no login')
    expect(asked).toEqual([`CONNECT localhost:${upstream} Basic YTpi`])
  })

  it('carries what changes its protocol', async () => {
    const upstream = http.createServer()
    upstream.on('upgrade', (_, socket: Socket) =>
      socket.end('HTTP/1.1 101 Now\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nhello'),
    )
    const place = await listen(upstream)
    const { asked, proxy } = await companyProxy(secure)
    const port = await proxyBehind(proxy)
    const headers = { Connection: 'upgrade', Upgrade: 'websocket' }
    const request = http.get({ host: '127.0.0.1', port, path: `http://localhost:${place}/`, headers })
    const [, socket, head] = (await once(request, 'upgrade')) as [unknown, Socket, Buffer]
    socket.unshift(head)
    expect(await text(socket)).toBe('hello')
    expect(asked).toEqual([`CONNECT localhost:${place} Basic YTpi`])
  })
})

describe('a proxy on the way that does not help', () => {
  it('is told to the client, with its reason', async () => {
    const { proxy } = await companyProxy()
    const { authorization: _, ...stranger } = proxy
    const port = await proxyBehind(stranger)
    expect(await askInTls(port, 'localhost:443', ours.certificate)).toMatch(
      /^502 .*the proxy localhost:\d+: it refused with 407 Proxy Authentication Required/s,
    )
    const talker = await listen(net.createServer((socket) => socket.end('220 no HTTP\r\n\r\n')))
    const silent = await listen(net.createServer((socket) => socket.destroy()))
    for (const [place, why] of [
      [talker, 'its response to CONNECT is not HTTP'],
      [silent, 'closed'],
      [1, 'the connection was refused'],
    ] as const) {
      const behind = await proxyBehind({ hostname: '127.0.0.1', port: place, secure: false })
      const said = await askInTls(behind, 'localhost:443', ours.certificate)
      expect(said).toMatch(/^502 .*the proxy 127\.0\.0\.1:\d+: /s)
      expect(said).toContain(why)
    }
  })
})
