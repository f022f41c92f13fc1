import https from 'node:https'
import net from 'node:net'
import { describe, expect, it } from 'vitest'
import { until } from '../behaviour/stage.js'
import { useHttpStage, wordsOf } from './http-proxy-stage.js'
import { certificate, key } from './test-certificate.js'

const stage = useHttpStage()

describe('an upstream that cannot be reached', () => {
  async function failureOf(upstream: string): Promise<string> {
    const proxy = await stage.proxy(upstream)
    const answer = await fetch(proxy.url, { method: 'POST', body: 'x'.repeat(1000) })
    expect(answer.status).toBe(502)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    await until('it is told', () => wordsOf(proxy.events).includes('failed by upstream 502'))
    return answer.text()
  }

  it('is a 502 with a sentence', async () => {
    const port = await new Promise<number>((done) => {
      const server = net.createServer().listen(0, '127.0.0.1', () => {
        const { port } = server.address() as net.AddressInfo
        server.close(() => done(port))
      })
    })
    expect(await failureOf(`http://127.0.0.1:${port}/mcp`)).toBe(
      `wiretape got no response from http://127.0.0.1:${port}: the connection was refused.\n`,
    )
    expect(await failureOf('http://nowhere.invalid/mcp')).toMatch(/the host name .*\.\n$/)
    const plain = await stage.httpUpstream((_, response) => response.end())
    expect(await failureOf(`https://127.0.0.1:${plain}/mcp`)).toContain('wiretape got no response from https')
  })

  it('is a 502 too when it does not speak HTTP', async () => {
    const upstream = await stage.rawUpstream((socket) =>
      socket.once('data', () => socket.end('SSH-2.0-x\r\n\r\n')),
    )
    expect(await failureOf(`http://127.0.0.1:${upstream}/mcp`)).toContain('the response is not HTTP')
  })

  it('needs a certificate, unless any will do', async () => {
    const server = https.createServer({ key, cert: certificate }, (_, response) => response.end('ok'))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as net.AddressInfo
    try {
      expect(await failureOf(`https://127.0.0.1:${port}/mcp`)).toContain('self-signed certificate')
      const proxy = await stage.proxy(`https://localhost:${port}/mcp`, { insecure: true })
      expect(await fetch(proxy.url).then((answer) => answer.text())).toBe('ok')
    } finally {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    }
  })
})

describe('an upstream that closes its connection', () => {
  it('before it answers breaks the connection of the client, as it would without us', async () => {
    for (const before of [0, 1]) {
      const upstream = await stage.rawUpstream((socket) => {
        let count = 0
        socket.on('data', () => {
          if (count++ < before) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
          else socket.destroy()
        })
      })
      const proxy = await stage.proxy(upstream)
      const head = `GET / HTTP/1.1\r\nHost: localhost:${proxy.port}\r\n\r\n`
      const client = stage.client(proxy.port, head)
      if (before > 0) {
        await client.until((bytes) => bytes.includes('ok'))
        client.socket.write(head)
      }
      await client.closed
      expect(client.received().toString().match(/HTTP/g) ?? []).toHaveLength(before)
      expect(wordsOf(proxy.events).at(-1)).toBe('failed by upstream')
    }
  })

  it('between two requests is connected to again', async () => {
    let connections = 0
    const upstream = await stage.rawUpstream((socket) => {
      connections += 1
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
    })
    const proxy = await stage.proxy(upstream)
    const head = `GET / HTTP/1.1\r\nHost: localhost:${proxy.port}\r\n\r\n`
    const client = stage.client(proxy.port)
    for (let n = 1; n <= 5; n += 1) {
      client.socket.write(head)
      await client.until((bytes) => bytes.toString().split('ok').length === n + 1)
    }
    expect(connections).toBe(5)
  })

  it('after an early answer ends the request, and the client gets the whole answer', async () => {
    const upstream = await stage.rawUpstream((socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno'),
      )
    })
    const proxy = await stage.proxy(upstream)
    const head = `POST / HTTP/1.1\r\nHost: localhost:${proxy.port}\r\nContent-Length: 100\r\n\r\n`
    const client = stage.client(proxy.port, `${head}half`)
    await client.closed
    expect(client.received().toString()).toMatch(/^HTTP\/1.1 413 Too Large[^]*no$/)
    await until('it is told', () => wordsOf(proxy.events).some((word) => word.startsWith('failed')))
  })
})
