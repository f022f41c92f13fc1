import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLeafCertificates, makeAuthority, type KeyPair } from '../../src/capture/trust/certificates.js'
import type { ForwardProxy, ForwardProxyOptions, HttpEvent } from '../../src/transports/index.js'
import { until } from '../behaviour/stage.js'
import { leaf, ours, startOurProxy, theirs } from './forward-proxy-stage.js'
import { createHttpStage, readMessage, wordsOf, type HttpStage, type RawClient } from './http-proxy-stage.js'

let stage: HttpStage
const closers: (() => unknown)[] = []
beforeEach(() => {
  stage = createHttpStage()
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await stage.close()
})

interface Seen extends ForwardProxy {
  readonly port: number
  readonly events: HttpEvent[]
  readonly tunnels: string[]
}

async function proxy(options: Partial<ForwardProxyOptions> = {}): Promise<Seen> {
  const events: HttpEvent[] = []
  const tunnels: string[] = []
  const started = await startOurProxy({
    onEvent: (event) => events.push('bytes' in event ? { ...event, bytes: Buffer.from(event.bytes) } : event),
    onTunnel: (place, why) => tunnels.push(`${place} ${why}`),
    ...options,
  })
  closers.push(() => started.close())
  return Object.assign(started, { port: Number(new URL(started.url).port), events, tunnels })
}

/** An https server; it responds with the request's content. */
async function secureUpstream(pair: KeyPair = leaf): Promise<number> {
  const server = https.createServer({ key: pair.key, cert: pair.certificate }, (request, response) => {
    response.end(`${request.method} ${request.url} ${request.headers.host}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const echo: http.RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString()
    response.end(`${request.method} ${request.url} ${request.rawHeaders.join('|')} ${body}`)
  })
}

const established = 'HTTP/1.1 200 Connection Established\r\n\r\n'

/** A client for whom the proxy has opened a tunnel. */
async function tunnel(port: number, place: string, then = ''): Promise<RawClient> {
  const client = stage.client(port, `CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n${then}`)
  await client.until((bytes) => bytes.includes(established))
  return client
}

/** Bytes that came through the tunnel. */
const inside = (client: RawClient): Buffer => client.received().subarray(established.length)

function secure(socket: Socket, trust: string, options: tls.ConnectionOptions = {}): tls.TLSSocket {
  socket.removeAllListeners('data')
  return tls.connect({ socket, servername: 'localhost', ca: trust, ...options })
}

async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(text)
  let received = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])))
  const message = await until('an answer comes', () => {
    const read = readMessage(received)
    return read?.complete ? read : undefined
  })
  return message.body
}

describe('a plain request', () => {
  it('goes to the server that it names, as that is asked without a proxy, whatever its Host says', async () => {
    const upstream = await stage.httpUpstream(echo)
    const { port, events } = await proxy()
    const client = stage.client(
      port,
      `POST http://localhost:${upstream}/mcp?a=%41 HTTP/1.1\r\nX-ODD: 1\r\nHost: evil.example\r\n` +
        'Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\nContent-Length: 2\r\n\r\nhi',
    )
    const bytes = await client.until((received) => readMessage(received)?.complete === true)
    expect(readMessage(bytes)!.body).toBe(
      `POST /mcp?a=%41 X-ODD|1|Host|localhost:${upstream}|Content-Length|2|Connection|keep-alive hi`,
    )
    expect(events[0]).toMatchObject({
      kind: 'request',
      origin: `http://localhost:${upstream}`,
      path: '/mcp?a=%41',
    })
    expect(wordsOf(events).slice(1, 4)).toEqual(['request-body hi', 'request-end', 'response 200'])
  })

  it('may be for another server each time', async () => {
    const upstreams = await Promise.all(
      [1, 2, 1].map((n) => stage.httpUpstream((_, response) => response.end(`${n}`))),
    )
    const { port } = await proxy()
    const client = stage.client(port)
    const bodies: string[] = []
    let seen = 0
    for (const upstream of upstreams) {
      client.socket.write(`GET http://127.0.0.1:${upstream} HTTP/1.1\r\nHost: x\r\n\r\n`)
      const from = seen
      const bytes = await client.until((received) => readMessage(received.subarray(from))?.complete === true)
      bodies.push(readMessage(bytes.subarray(from))!.body)
      seen = bytes.length
    }
    expect(bodies).toEqual(['1', '2', '1'])
  })

  it.each([
    ['a path', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', 400],
    [
      'a path, by a name that leads here (DNS rebinding)',
      'GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n',
      400,
    ],
    ['a URL with a password', 'GET http://a:b@localhost/ HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['another scheme', 'GET ftp://localhost/ HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a tunnel to nowhere', 'CONNECT localhost HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a tunnel to a path', 'CONNECT localhost:1/x HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ])('is refused when it asks for %s, and the connection with it', async (_, text, status) => {
    const { port } = await proxy()
    const client = stage.client(port, `${text}GET http://localhost/ HTTP/1.1\r\nHost: x\r\n\r\n`)
    await client.closed
    expect(client.received().toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(
      client
        .received()
        .toString()
        .match(/HTTP\/1\.1/g),
    ).toHaveLength(1)
  })

  it('keeps few connections to the servers of one client', async () => {
    const open = new Set<Socket>()
    const upstreams = await Promise.all(
      Array.from({ length: 20 }, () =>
        stage.httpUpstream((request, response) => {
          open.add(request.socket)
          request.socket.once('close', () => open.delete(request.socket))
          response.end('ok')
        }),
      ),
    )
    const { port } = await proxy()
    const client = stage.client(port)
    for (const [n, upstream] of upstreams.entries()) {
      client.socket.write(`GET http://127.0.0.1:${upstream} HTTP/1.1\r\nHost: x\r\n\r\n`)
      await client.until((received) => received.toString().split('ok').length > n + 1)
    }
    await until('the idle connections are closed', () => open.size <= 16)
  })

  it('is refused when it leads back to the proxy, by address or by a name', async () => {
    const { port } = await proxy()
    for (const text of [
      `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`,
      `CONNECT localhost:${port} HTTP/1.1\r\nHost: x\r\n\r\n`,
    ]) {
      const client = stage.client(port, text)
      const bytes = await client.until((received) => received.includes('leads back'))
      expect(bytes.toString()).toMatch(/^HTTP\/1.1 403/)
    }
  })

  it('gets a proper answer when its server is not there', async () => {
    const { port } = await proxy()
    const client = stage.client(port, 'GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: x\r\n\r\n')
    const bytes = await client.until((received) => readMessage(received)?.complete === true)
    expect(bytes.toString()).toMatch(
      /^HTTP\/1.1 502 .*got no response from http:\/\/127.0.0.1:1: the connection was refused/s,
    )
  })
})

describe('a tunnel', () => {
  it('is looked into when plain HTTP is spoken inside, in the same packet or later', async () => {
    const upstream = await stage.httpUpstream(echo)
    const { port, events, tunnels } = await proxy()
    const request = 'GET /a HTTP/1.1\r\nHost: kept.example\r\n\r\n'
    for (const [first, later] of [
      [request, ''],
      ['', request],
    ] as const) {
      const client = await tunnel(port, `127.0.0.1:${upstream}`, first)
      client.socket.write(later)
      await client.until(() => readMessage(inside(client))?.complete === true)
      expect(readMessage(inside(client))!.body).toContain('GET /a Host|kept.example')
    }
    expect(events.filter(({ kind }) => kind === 'request')).toMatchObject([
      { origin: `http://127.0.0.1:${upstream}`, path: '/a' },
      { origin: `http://127.0.0.1:${upstream}`, path: '/a' },
    ])
    expect(tunnels).toEqual([])
  })

  it('is looked into when TLS is spoken inside, and the server has to prove who it is', async () => {
    const upstream = await secureUpstream()
    const { port, events, tunnels } = await proxy()
    const client = secure((await tunnel(port, `localhost:${upstream}`)).socket, ours.certificate, {
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    expect(await ask(client, `GET /b HTTP/1.1\r\nHost: localhost:${upstream}\r\n\r\n`)).toBe(
      `GET /b localhost:${upstream}`,
    )
    expect(client.authorized && client.alpnProtocol).toBe('http/1.1')
    expect(events[0]).toMatchObject({ kind: 'request', origin: `https://localhost:${upstream}`, path: '/b' })
    expect(tunnels).toEqual([])
  })

  it('tells the client why the server is not believed', async () => {
    const stranger = await makeAuthority(new Date())
    const upstream = await secureUpstream(await createLeafCertificates(stranger).of('localhost'))
    for (const [options, expected] of [
      [{}, /got no response from https:\/\/localhost:\d+: .*certificate/],
      [{ insecure: true }, /^GET \/ localhost$/],
    ] as const) {
      const { port } = await proxy(options)
      const client = secure((await tunnel(port, `localhost:${upstream}`)).socket, ours.certificate)
      expect(await ask(client, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(expected)
    }
  })

  it('is left alone from the second time on when the client does not believe the certificate', async () => {
    const upstream = await secureUpstream()
    const { port, tunnels, events } = await proxy()
    // This client reports its distrust by an alert during the handshake.
    const socket = (await tunnel(port, `localhost:${upstream}`)).socket
    socket.removeAllListeners('data')
    socket.write(await caughtHello())
    const [serverHello] = (await once(socket, 'data')) as [Buffer]
    expect(serverHello[0]).toBe(0x16)
    socket.write(Buffer.from([0x15, 3, 3, 0, 2, 2, 48]))
    await once(socket, 'close')
    const pinned = secure((await tunnel(port, `localhost:${upstream}`)).socket, theirs.certificate)
    expect(await ask(pinned, 'GET /p HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('GET /p x')
    expect(tunnels).toEqual([`localhost:${upstream} pinned`])
    expect(events).toEqual([])
  })

  it('is left alone as well when the client leaves without a word, twice', async () => {
    const upstream = await secureUpstream()
    const { port, tunnels } = await proxy()
    /** Node finishes the handshake before it checks the certificate. */
    const believes = async (): Promise<boolean> => {
      const socket = (await tunnel(port, `localhost:${upstream}`)).socket
      const client = secure(socket, theirs.certificate)
      return new Promise((done) => {
        client.once('secureConnect', () => done(true))
        client.once('error', () => {
          socket.destroy()
          done(false)
        })
      })
    }
    expect([await believes(), await believes()]).toEqual([false, false])
    await until('the proxy leaves it alone', believes)
    expect(tunnels).toEqual([`localhost:${upstream} pinned`])
  })

  it('is left alone where the user says so, and a server that is not there is told at once', async () => {
    const upstream = await secureUpstream()
    const { port, tunnels } = await proxy({ tunnelled: () => 'skipped' })
    const client = secure((await tunnel(port, `localhost:${upstream}`)).socket, theirs.certificate)
    expect(await ask(client, 'GET /s HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('GET /s x')
    expect(tunnels).toEqual([`localhost:${upstream} skipped`])
    const nowhere = stage.client(port, 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n')
    await nowhere.closed
    expect(nowhere.received().toString()).toMatch(/^HTTP\/1.1 502/)
  })

  it.each([
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['bytes of any kind', '\u0000\u0001\u0002'],
    ['what only begins like TLS', '\u0016\u0003\u0001\u0000\u0002\u0007\u0007'],
  ])('carries %s untouched', async (_, bytes) => {
    const upstream = await stage.rawUpstream((socket) => socket.pipe(socket))
    const { port, tunnels } = await proxy()
    const client = await tunnel(port, `127.0.0.1:${upstream}`, bytes)
    await client.until(() => inside(client).toString('latin1') === bytes)
    client.socket.write('more')
    await client.until(() => inside(client).toString('latin1') === `${bytes}more`)
    expect(tunnels).toEqual([`127.0.0.1:${upstream} not-http`])
    client.socket.end()
    expect(await client.closed).toBeUndefined()
  })

  it('carries what the server says first', async () => {
    const upstream = await stage.rawUpstream((socket) => socket.end('220 hello\r\n'))
    const { port, tunnels } = await proxy()
    const client = await tunnel(port, `127.0.0.1:${upstream}`)
    await client.closed
    expect(inside(client).toString()).toBe('220 hello\r\n')
    expect(tunnels).toEqual([`127.0.0.1:${upstream} not-http`])
  })

  it.each([
    'NICK one\r\nUSER a b c d\r\n',
    'get key\r\n',
    'EHLO h\r\n',
    'CONNECT {"verbose":false}\r\n',
    'OPTIONS rtsp://127.0.0.1/ RTSP/1.0\r\n',
    'GET /without-a-version\r\n',
  ])('carries what is no HTTP, though its client speaks first and in words: %j', async (words) => {
    const upstream = await stage.rawUpstream((socket) => void socket.pipe(socket))
    const { port, tunnels } = await proxy()
    const client = await tunnel(port, `127.0.0.1:${upstream}`)
    for (const part of [words.slice(0, 3), words.slice(3)]) {
      client.socket.write(part)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await client.until(() => inside(client).toString() === words)
    expect(tunnels).toEqual([`127.0.0.1:${upstream} not-http`])
    client.socket.end()
  })

  it('is looked into when a request comes byte by byte, over many lengths of its target', async () => {
    const upstream = await stage.httpUpstream((request, response) => response.end(`${request.url?.length}`))
    const { port } = await proxy()
    for (const target of ['/', '/mcp?a=1', `/${'a'.repeat(2_000)}`, `http://127.0.0.1:${upstream}/b`]) {
      const client = await tunnel(port, `127.0.0.1:${upstream}`)
      for (const byte of `GET ${target.slice(0, 40)}`) client.socket.write(byte)
      client.socket.write(`${target.slice(40)} HTTP/1.1\r\nHost: 127.0.0.1:${upstream}\r\n\r\n`)
      await client.until(() => readMessage(inside(client))?.complete === true)
      expect(inside(client).toString()).toContain(' 200 OK')
    }
  })

  it('tells in one plain line when TLS is asked of a server that speaks none', async () => {
    const upstream = await stage.rawUpstream((socket) => {
      socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    })
    const { port } = await proxy()
    const client = secure((await tunnel(port, `localhost:${upstream}`)).socket, ours.certificate)
    expect(await ask(client, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatch(
      /got no response from https:\/\/localhost:\d+: the server does not use TLS on that port[.\s]*$/,
    )
  })

  it('still is looked into when its client takes its time', async () => {
    let connections = 0
    const upstream = await stage.httpUpstream(
      (_, response) => response.end('late'),
      (server) => server.on('connection', () => (connections += 1)),
    )
    const { port, events } = await proxy()
    const client = await tunnel(port, `127.0.0.1:${upstream}`)
    await until('the proxy has asked whether the server speaks first', () => connections > 0)
    client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await client.until(() => readMessage(inside(client))?.complete === true)
    expect(events[0]).toMatchObject({ kind: 'request' })
  })

  it('ends the client when nobody is there', async () => {
    const { port } = await proxy()
    const client = await tunnel(port, '127.0.0.1:1', '\u0000\u0001')
    await client.closed
    expect(inside(client).length).toBe(0)
  })

  it('carries WebSockets, and takes an offer of HTTP/2 for the request that it is', async () => {
    const upstream = await stage.httpUpstream(echo, (server) =>
      server.on('upgrade', (request, socket) => {
        if (request.headers.upgrade !== 'websocket') return socket.destroy()
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
        socket.pipe(socket)
      }),
    )
    const { port, events } = await proxy()
    const socket = stage.client(
      port,
      `GET http://127.0.0.1:${upstream}/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    )
    await socket.until((bytes) => bytes.includes('101 Switching'))
    socket.socket.write('frame')
    await socket.until((bytes) => bytes.toString().endsWith('frame'))
    expect(events).toEqual([])
    const offer = await tunnel(
      port,
      `127.0.0.1:${upstream}`,
      'POST /h2c HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n' +
        'HTTP2-Settings: AAMAAABk\r\nContent-Length: 4\r\n\r\nbody',
    )
    await offer.until(() => readMessage(inside(offer))?.complete === true)
    expect(readMessage(inside(offer))!.body).toBe(
      'POST /h2c Host|x|Content-Length|4|Connection|keep-alive body',
    )
    expect(events[0]).toMatchObject({ kind: 'request', path: '/h2c' })
  })
})

describe('the proxy itself', () => {
  it('listens on loopback only', async () => {
    await expect(proxy({ host: '0.0.0.0' })).rejects.toThrow(/other machines could use the server/)
  })

  it('ends whatever is open when it is closed', async () => {
    const upstream = await stage.rawUpstream(() => undefined)
    const started = await proxy()
    const clients = [
      await tunnel(started.port, `127.0.0.1:${upstream}`, '\u0000'),
      await tunnel(started.port, `127.0.0.1:${upstream}`, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      await tunnel(started.port, `127.0.0.1:${upstream}`),
    ]
    await started.close()
    await Promise.all(clients.map(({ closed }) => closed))
    await expect(once(net.connect(started.port, '127.0.0.1'), 'connect')).rejects.toThrow(/ECONNREFUSED/)
  })
})

/** The first bytes of a real client. */
async function caughtHello(): Promise<Buffer> {
  const caught = new Promise<Buffer>((done) => {
    void stage
      .rawUpstream((socket) => socket.once('data', done))
      .then((port) => {
        const client = tls.connect({
          port,
          host: '127.0.0.1',
          servername: 'localhost',
          maxVersion: 'TLSv1.2',
        })
        client.on('error', () => undefined)
      })
  })
  return caught
}
