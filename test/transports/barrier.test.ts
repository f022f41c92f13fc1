import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import net from 'node:net'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createPeers } from '../../src/transports/barrier/peers.js'
import { systemTables, type SocketTables } from '../../src/transports/barrier/system-tables.js'
import { eachRow, keyOf } from '../../src/transports/barrier/socket-table.js'
import { raiseBarrier } from '../../src/transports/barrier/index.js'
import { storedSecret } from '../../src/transports/index.js'
import { once } from 'node:events'
import { until } from '../behaviour/stage.js'
import { useHttpStage } from './http-proxy-stage.js'
import { startOurProxy } from './forward-proxy-stage.js'

const header =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
const rowOf = (near: string, far: string, uid: number, inode = 7, state = '01'): string =>
  `   0: ${near} ${far} ${state} 00000000:00000000 00:00000000 00000000 ${String(uid).padStart(5)}        0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`
/** Tables in pieces of these texts. */
const tablesOf = (text: (name: 'tcp' | 'tcp6') => string | string[]): SocketTables => {
  const pieces = (name: 'tcp' | 'tcp6'): Buffer[] => [text(name)].flat().map((one) => Buffer.from(one))
  return {
    now: pieces,
    async *read(name) {
      for (const piece of pieces(name)) {
        await new Promise(setImmediate)
        yield piece
      }
    },
  }
}
/** A system that does not say whose a connection is. */
const silent = tablesOf(() => '')
const secret = 'a'.repeat(32)
const stage = useHttpStage()

/** A socket as far as the look-up goes. */
function socketOf([remoteAddress, remotePort]: [string, number], own: [string, number]): net.Socket {
  const [localAddress, localPort] = own
  const socket = new net.Socket()
  for (const [name, value] of Object.entries({ remoteAddress, remotePort, localAddress, localPort }))
    Object.defineProperty(socket, name, { value })
  return socket
}

describe('the tables of sockets', () => {
  it.each([
    ['IPv4', 'tcp', '127.0.0.1', '0100007F:1F90'],
    ['IPv4 as IPv6 maps it, in the table of IPv4', 'tcp', '::ffff:10.1.2.3', '0302010A:1F90'],
    ['IPv4 in the table of IPv6', 'tcp6', '127.0.0.1', '0000000000000000FFFF00000100007F:1F90'],
    ['IPv6', 'tcp6', '::1', '00000000000000000000000001000000:1F90'],
    ['IPv6 with a zone', 'tcp6', 'fe80::1:2%eth0', '000080FE000000000000000002000100:1F90'],
  ] as const)('are searched for %s', (_, name, address, near) => {
    const far = name === 'tcp' ? '00000000:0000' : `${'0'.repeat(32)}:0000`
    expect(keyOf(name, { address, port: 8080 }, undefined)).toBe(`${near} ${far}`)
  })

  it('hold nothing for what is no address, nor IPv6 among IPv4', () => {
    for (const address of ['', 'x', '1.2.3', '1.2.3.256', '1:2', '::1::2', '12345::', '1:2:3:4:5:6:7:8:9'])
      expect(keyOf('tcp6', { address, port: 1 }, undefined)).toBeUndefined()
    expect(keyOf('tcp', { address: '::1', port: 1 }, undefined)).toBeUndefined()
  })

  it('are read row by row, whatever the width of their columns', () => {
    const rows: unknown[] = []
    const table = `${header}${rowOf('A:1', 'B:2', 1000)}12345: C:3 D:4 01 0:0 00:0 0  4294967294        0 99 1\n`
    eachRow(Buffer.from(table), ':', (...row) => rows.push(row))
    expect(rows).toEqual([
      ['A:1 B:2', 1000],
      ['C:3 D:4', 4_294_967_294],
    ])
    for (const odd of ['', '\n', 'x', header, `${header}\n\n`, `${header}rubbish\n: \n`])
      eachRow(Buffer.from(odd), ':', () => undefined)
  })

  const own = { address: '127.0.0.1', port: 8080 }
  const listening = rowOf('0100007F:1F90', '00000000:0000', 1000, 5, '0A')
  const peer = (uid: number, inode?: number): string => rowOf('0100007F:9C40', '0100007F:1F90', uid, inode)
  const socket = (): net.Socket => socketOf(['127.0.0.1', 40_000], ['127.0.0.1', 8080])

  it.each([
    ['its uid', listening + peer(1001), 1001],
    ['its uid, when it is listed twice', listening + peer(1001) + peer(1001), 1001],
    ['nothing, when two rows differ', listening + peer(1001) + peer(0), 'unknown'],
    ['nothing, when its process has closed it: kernels call that root', listening + peer(0, 0), 'unknown'],
    ['nothing, when it is not there', listening, 'unknown'],
  ])('say of a connection %s', async (_, rows, expected) => {
    const peers = createPeers(
      tablesOf((name) => (name === 'tcp' ? header + rows : '')),
      1000,
      own,
    )
    expect(peers.tells).toBe(true)
    const one = socket()
    expect(peers.of(one)).toBe('unknown')
    await peers.look(one)
    expect(peers.of(one)).toBe(expected)
  })

  it('are read once for all connections that wait, and not again for one that is known', async () => {
    let reads = 0
    const rows =
      header +
      listening +
      Array.from({ length: 50 }, (_, n) =>
        rowOf(`0100007F:${(40_000 + n).toString(16).toUpperCase()}`, '0100007F:1F90', 1000),
      ).join('')
    const peers = createPeers(
      tablesOf((name) => ((reads += 1), name === 'tcp' ? rows : '')),
      1000,
      own,
    )
    const before = reads
    const sockets = Array.from({ length: 50 }, (_, n) =>
      socketOf(['127.0.0.1', 40_000 + n], ['127.0.0.1', 8080]),
    )
    expect(peers.knows(sockets[0]!)).toBe(false)
    await Promise.all(sockets.map((one) => peers.look(one)))
    for (const one of [...sockets, ...sockets])
      expect([peers.of(one), peers.knows(one)]).toEqual([1000, true])
    expect(reads - before).toBe(1)
  })

  it('are read again for a connection that came while they were read', async () => {
    let rows = header + listening
    let second: Promise<void> | undefined
    let hasBegun = false
    const peers = createPeers(
      tablesOf((name) => {
        if (name === 'tcp6' || !hasBegun) return header + listening
        // The reading has begun: what it gives is older than the second connection.
        const now = rows
        rows = header + listening + peer(1000) + rowOf('0100007F:9C41', '0100007F:1F90', 1001)
        second ??= peers.look(other)
        return now
      }),
      1000,
      own,
    )
    const one = socket()
    const other = socketOf(['127.0.0.1', 40_001], ['127.0.0.1', 8080])
    hasBegun = true
    await peers.look(one)
    await second
    expect([peers.of(one), peers.of(other)]).toEqual([1000, 1001])
  })

  it('are read no further than to the rows that are wanted', async () => {
    let pieces = 0
    const many = header + listening + peer(1000)
    const peers = createPeers(
      {
        now: () => [Buffer.from(many)],
        async *read() {
          for (;;) {
            pieces += 1
            yield await Promise.resolve(Buffer.from(many))
          }
        },
      },
      1000,
      own,
    )
    const one = socket()
    await peers.look(one)
    expect([peers.of(one), pieces]).toEqual([1000, 1])
  })

  it('say nothing of a connection that was reset meanwhile: the row may be another one’s', async () => {
    const peers = createPeers(
      tablesOf((name) => (name === 'tcp' ? header + listening + peer(1000) : '')),
      1000,
      own,
    )
    const one = socket()
    Object.defineProperty(one, '_handle', { value: { getpeername: () => -107 } })
    await peers.look(one)
    expect(peers.of(one)).toBe('unknown')
  })

  it.runIf(process.platform === 'linux')(
    'of this system come in whole lines, the same both ways',
    async () => {
      const server = net.createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as net.AddressInfo
      const socket = net.connect(port, '127.0.0.1')
      const [accepted] = (await once(server, 'connection')) as [net.Socket]
      const tables = systemTables()
      const texts = { now: '', later: '' }
      for (const piece of tables.now('tcp')) texts.now += piece.toString()
      for await (const piece of tables.read('tcp')) {
        expect(piece.length === 0 || piece.at(-1) === 10).toBe(true)
        texts.later += piece.toString()
      }
      const key = keyOf(
        'tcp',
        { address: '127.0.0.1', port },
        { address: '127.0.0.1', port: socket.localPort! },
      )
      for (const text of Object.values(texts)) expect(text).toContain(key)
      const peers = createPeers(tables, process.geteuid!(), { address: '127.0.0.1', port })
      expect(peers.tells).toBe(true)
      await peers.look(accepted)
      expect(peers.of(accepted)).toBe(process.geteuid!())
      for (const one of [socket, accepted]) one.destroy()
      server.close()
    },
  )

  it('tell nothing where they do not list our own socket under our own uid', () => {
    for (const table of ['', header, header + rowOf('0100007F:1F90', '00000000:0000', 65_534, 5, '0A')])
      expect(
        createPeers(
          tablesOf(() => table),
          1000,
          own,
        ).tells,
      ).toBe(false)
  })
})

it.runIf(process.platform === 'linux')(
  'nothing is read from a connection before it is known whose it is, while others go on',
  async () => {
    const system = systemTables()
    let latch = Promise.resolve()
    let isAsked = false
    const tables: SocketTables = {
      now: (name) => system.now(name),
      async *read(name) {
        isAsked = true
        await latch
        yield* system.read(name)
      },
    }
    const accepted: net.Socket[] = []
    const server = http.createServer((request, response) => {
      if (barrier.admit(request, response) !== undefined) response.end(`you are at ${request.url}`)
    })
    server.on('connection', (socket: net.Socket) => accepted.push(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as net.AddressInfo
    const barrier = raiseBarrier(server, '127.0.0.1', port, { tables })
    const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
    const first = stage.client(port, ask('/1'))
    await first.until((all) => all.includes('at /1'))
    let open = (): void => undefined
    latch = new Promise((done) => (open = done))
    isAsked = false
    const second = stage.client(port, ask('/a') + ask('/b'))
    await until('the tables are asked for', () => isAsked)
    for (const path of ['/2', '/3']) {
      first.socket.write(ask(path))
      await first.until((all) => all.includes(`at ${path}`))
    }
    expect(accepted.map((socket) => socket.bytesRead > 0)).toEqual([true, false])
    expect(second.received()).toHaveLength(0)
    open()
    await second.until((all) => all.includes('at /b'))
    expect(
      second
        .received()
        .toString()
        .match(/at \/[ab]/g),
    ).toEqual(['at /a', 'at /b'])
    server.close()
    server.closeAllConnections()
  },
)

describe('where the system does not say whose a connection is', () => {
  const get = (port: number, path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`

  async function said(port: number, text: string): Promise<string> {
    const client = stage.client(port, text)
    await client.closed
    return client.received().toString()
  }

  const answering =
    (body: string, headers: Record<string, string> = {}, status = 200) =>
    (_request: IncomingMessage, response: ServerResponse): void => {
      response.writeHead(status, headers).end(body)
    }

  it('the path in the URL has a secret, which neither the upstream nor the recorder gets', async () => {
    const paths: string[] = []
    const upstream = await stage.httpUpstream((request, response) => {
      paths.push(request.url!)
      response.end('hello')
    })
    const access = { tables: silent, secret: () => secret }
    const proxy = await stage.proxy(`http://127.0.0.1:${upstream}/mcp?key=1`, { access })
    const url = new URL(proxy.url)
    expect(url.pathname).toBe(`/wiretape-${secret}/mcp`)
    expect(await said(proxy.port, get(proxy.port, url.pathname))).toContain('hello')
    expect(await said(proxy.port, get(proxy.port, `/wiretape-${secret}?a`))).toContain('hello')
    expect(
      await said(proxy.port, get(proxy.port, `/.well-known/oauth-protected-resource/wiretape-${secret}/mcp`)),
    ).toContain('hello')
    expect(paths).toEqual(['/mcp?key=1', '/?a', '/.well-known/oauth-protected-resource/mcp'])
    for (const path of [
      '/mcp',
      `/wiretape-${'b'.repeat(32)}/mcp`,
      `/x/wiretape-${secret}/mcp`,
      `/wiretape-${secret}x/mcp`,
      `/mcp?/wiretape-${secret}`,
    ]) {
      const refused = await said(proxy.port, get(proxy.port, path))
      expect(refused).toMatch(/^HTTP\/1\.1 403 /)
      expect(refused).toContain('the secret of this address is missing')
    }
    expect(paths).toHaveLength(3)
    expect(JSON.stringify(proxy.events)).not.toContain(secret)
  })

  it('challenges lead to us by the secret, and a resource names all of our origin', async () => {
    let origin = ''
    const upstream = await stage.httpUpstream((request, response) => {
      if (request.url === '/mcp')
        answering(
          '',
          {
            'WWW-Authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
          },
          401,
        )(request, response)
      else
        answering(JSON.stringify({ resource: `${origin}/mcp` }), { 'Content-Type': 'application/json' })(
          request,
          response,
        )
    })
    origin = `http://127.0.0.1:${upstream}`
    const proxy = await stage.proxy(upstream, { access: { tables: silent, secret: () => secret } })
    const challenge = await said(proxy.port, get(proxy.port, new URL(proxy.url).pathname))
    const place = /resource_metadata="([^"]+)"/.exec(challenge)![1]!
    expect(place).toBe(
      `http://127.0.0.1:${proxy.port}/wiretape-${secret}/.well-known/oauth-protected-resource/mcp`,
    )
    const metadata = await said(proxy.port, get(proxy.port, new URL(place).pathname))
    expect(metadata).toContain(`{"resource":"http://127.0.0.1:${proxy.port}/"}`)
    expect(metadata).not.toContain(secret)
  })

  it.each(['/message?sessionId=1', 'http://127.0.0.1:PORT/message?sessionId=1'])(
    'the endpoint event of HTTP+SSE leads to us by the secret: %s',
    async (endpoint) => {
      let upstream = 0
      upstream = await stage.httpUpstream((_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        response.end(`event: endpoint\ndata: ${endpoint.replace('PORT', String(upstream))}\n\n`)
      })
      const proxy = await stage.proxy(upstream, { access: { tables: silent, secret: () => secret } })
      const text = await said(proxy.port, get(proxy.port, new URL(proxy.url).pathname))
      expect(text).toMatch(
        new RegExp(`data: (http://127.0.0.1:${proxy.port})?/wiretape-${secret}/message\\?sessionId=1`),
      )
      expect(
        JSON.stringify(
          proxy.events.map((event) => ('bytes' in event ? Buffer.from(event.bytes).toString() : event)),
        ),
      ).not.toContain(secret)
    },
  )

  it('a proxy has a login, which is told to nobody', async () => {
    const seen: string[] = []
    const upstream = await stage.httpUpstream((request, response) => {
      seen.push(JSON.stringify(request.rawHeaders))
      response.end('hello')
    })
    const events: unknown[] = []
    const proxy = await startOurProxy({
      access: { tables: silent, secret: () => secret },
      onEvent: (event) => events.push(event),
    })
    const url = new URL(proxy.url)
    expect([url.username, url.password]).toEqual(['wiretape', secret])
    const port = Number(url.port)
    const ask = (login: string): Promise<string> =>
      said(
        port,
        `GET http://127.0.0.1:${upstream}/ HTTP/1.1\r\nHost: 127.0.0.1:${upstream}\r\nConnection: close\r\n${login}\r\n`,
      )
    const login = (text: string): string =>
      `Proxy-Authorization: Basic ${Buffer.from(text).toString('base64')}\r\n`
    for (const wrong of [
      '',
      login('wiretape:x'),
      login(`x:${secret}`),
      'Proxy-Authorization: Bearer x\r\n',
    ]) {
      const refused = await ask(wrong)
      expect(refused).toMatch(/^HTTP\/1\.1 407 /)
      expect(refused).toContain('Proxy-Authenticate: Basic')
    }
    expect(await said(port, 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 407 /)
    expect(await ask(login(`wiretape:${secret}`))).toContain('hello')
    expect(seen).toHaveLength(1)
    expect(JSON.stringify([seen, events])).not.toMatch(/proxy-authorization/i)
    await proxy.close()
  })

  it('everybody is let in where that was asked for, and no URL changes', async () => {
    const upstream = await stage.httpUpstream((request, response) => response.end(request.url))
    const proxy = await stage.proxy(upstream, {
      access: { tables: silent, openToAllUsers: true, secret: () => secret },
    })
    expect(new URL(proxy.url).pathname).toBe('/mcp')
    expect(await said(proxy.port, get(proxy.port, '/mcp'))).toMatch(/\/mcp$/)
    // A configuration from before still works.
    expect(await said(proxy.port, get(proxy.port, `/wiretape-${secret}/mcp`))).toMatch(/\/mcp$/)
  })

  it('clients on other hosts have a URL of their own, and our own processes do not', async () => {
    const upstream = await stage.httpUpstream((request, response) => response.end(request.url))
    const proxy = await stage.proxy(upstream, {
      host: '0.0.0.0',
      allowRemote: true,
      access: { secret: () => secret },
    })
    expect(new URL(proxy.remoteUrl!).pathname).toBe(`/wiretape-${secret}/mcp`)
    if (process.platform !== 'linux') return
    expect(new URL(proxy.url).pathname).toBe('/mcp')
    expect(await said(proxy.port, get(proxy.port, '/mcp'))).toMatch(/\/mcp$/)
    expect(await said(proxy.port, get(proxy.port, new URL(proxy.remoteUrl!).pathname))).toMatch(/\/mcp$/)
  })
})

describe('the stored secret', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-access-'))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('is the same for later runs under one label and port, and private', () => {
    const path = join(folder, 'access')
    const first = storedSecret(path, 'files', 8080)
    expect(first).toMatch(/^[0-9a-f]{32}$/)
    expect(storedSecret(path, 'files', 8080)).toBe(first)
    expect(new Set([first, storedSecret(path, 'files', 8081), storedSecret(path, 'other', 8080)]).size).toBe(
      3,
    )
    expect(statSync(path).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(path)) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600)
  })

  it('is made anew when others could have read it, or it is damaged', () => {
    const first = storedSecret(folder, 'files', 1)
    const file = join(folder, readdirSync(folder)[0]!)
    chmodSync(file, 0o644)
    const second = storedSecret(folder, 'files', 1)
    expect(second).not.toBe(first)
    writeFileSync(file, 'damaged')
    expect(storedSecret(folder, 'files', 1)).not.toBe(second)
    expect(readFileSync(file, 'utf8')).toMatch(/^[0-9a-f]{32}\n$/)
    expect(existsSync(`${file}.${process.pid}.new`)).toBe(false)
  })
})
