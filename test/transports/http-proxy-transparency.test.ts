import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { until } from '../behaviour/stage.js'
import { useHttpStage, readMessage, wordsOf, type RawMessage } from './http-proxy-stage.js'

const stage = useHttpStage()

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, n) => n)).toString('latin1')
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

interface Seen {
  readonly request: RawMessage
  readonly answers: readonly RawMessage[]
}

/**
 * Sends `request` to an upstream that responds with `answer`, directly or through the proxy. Returns the bytes that
 * both sides received.
 */
async function play(request: string, answer: string, withUs: boolean, closes: boolean): Promise<Seen> {
  let seen: RawMessage | undefined
  const upstream = await stage.rawUpstream((socket) => {
    let came = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      came = Buffer.concat([came, chunk])
      const message = readMessage(came)
      if (!message?.complete || seen) return
      seen = message
      socket.write(answer, 'latin1')
      if (closes) socket.end()
    })
  })
  const port = withUs ? (await stage.proxy(upstream)).port : upstream
  const client = stage.client(port, Buffer.from(request.replace('{host}', `127.0.0.1:${port}`), 'latin1'))
  const bodiless = request.startsWith('HEAD') || /^HTTP\/1.1 (204|304)/.test(answer)
  const read = (bytes: Buffer, closed: boolean): RawMessage[] | undefined => {
    const answers: RawMessage[] = []
    for (let rest = bytes; ; rest = answers.at(-1)!.rest) {
      const message = readMessage(rest, bodiless || /^HTTP\/1.1 1/.test(rest.toString('latin1')))
      if (!message || !(message.complete || closed)) return undefined
      answers.push(message)
      if (!/^HTTP\/1.1 1/.test(message.start)) return answers
    }
  }
  if (closes) await Promise.race([client.closed, client.until((bytes) => read(bytes, false) !== undefined)])
  else await client.until((bytes) => read(bytes, false) !== undefined)
  const answers = read(client.received(), true) ?? []
  return {
    request: { ...seen!, headers: seen!.headers.map((line) => line.replace(`:${upstream}`, ':PORT')) },
    answers: answers.map((message) => ({ ...message, complete: true, rest: Buffer.alloc(0) })),
  }
}

const requests: Record<string, string> = {
  'a GET with headers in odd case, order and number':
    'GET /mcp HTTP/1.1\r\nx-B: 1\r\nHOST: {host}\r\nX-b: 2\r\nAccept: a\r\naCCEPT: b\r\nx-B: 3\r\ncookie: a=1\r\nCookie: b=2\r\n\r\n',
  'no header but Host': 'GET / HTTP/1.1\r\nhost: {host}\r\n\r\n',
  'a path that nobody would write':
    'GET //a/../%2e%2E/b;c=%zz?x=1&x=2&y=[{"a":1}]&&?# HTTP/1.1\r\nHost: {host}\r\n\r\n',
  'an asterisk': 'OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n',
  'values that are not ASCII': 'GET /mcp HTTP/1.1\r\nHost: {host}\r\nX-Name: caf\xe9 \xfc\r\n\r\n',
  'a POST with every byte': `POST /message?a=b HTTP/1.1\r\nHost: {host}\r\nContent-Length: 256\r\nContent-Type: x\r\n\r\n${everyByte}`,
  'a POST in chunks':
    'POST /mcp HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
  'a POST in chunks with trailers':
    'POST /mcp HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n',
  'a POST of nothing': 'POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n',
  'a POST that says nothing about a body': 'POST /mcp HTTP/1.1\r\nHost: {host}\r\nX: y\r\n\r\n',
  'a GET with a body': 'GET /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: 3\r\n\r\nabc',
  'a GET with a body in chunks':
    'GET /mcp HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  'a DELETE': 'DELETE /mcp HTTP/1.1\r\nHost: {host}\r\nMcp-Session-Id: abc\r\n\r\n',
  'a method from elsewhere': 'PROPFIND /mcp HTTP/1.1\r\nHost: {host}\r\nDepth: 1\r\n\r\n',
  'a compressed body': `POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Encoding: gzip\r\nContent-Length: ${gzipSync('hello').length}\r\n\r\n${gzipSync('hello').toString('latin1')}`,
  'a header of 100 kB': `GET /mcp HTTP/1.1\r\nHost: {host}\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`,
  '3000 headers': `GET /mcp HTTP/1.1\r\nHost: {host}\r\n${'X-Many: 1\r\n'.repeat(3000)}\r\n`,
  'credentials, mirrored and unknown headers':
    'GET /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer x\r\nMcp-Param-A: =?base64?SGk=?=\r\nMcp-Name: \r\nForwarded: for=me\r\nX-Forwarded-For: 1\r\nUser-Agent: \r\n\r\n',
  'an offer of HTTP/2':
    'GET /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nAccept: x\r\n\r\n',
}

const answers: Record<string, string> = {
  'a length': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: yesterday\r\n\r\nhello',
  chunks: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n',
  'chunks and trailers':
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n',
  'a body up to the end of the connection': 'HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nhello',
  'HTTP/1.0': 'HTTP/1.0 200 OK\r\nX-A: 1\r\n\r\nhello',
  'no body': 'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n',
  '204': 'HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n',
  '304 with the length of what is not sent':
    'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 99\r\n\r\n',
  'a status message of its own': 'HTTP/1.1 404 Nothing Like That, S\xe9\xf1or\r\nContent-Length: 0\r\n\r\n',
  'no status message': 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n',
  'a status that nobody knows': 'HTTP/1.1 799 What\r\nContent-Length: 1\r\n\r\nx',
  'repeated headers in odd case':
    'HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nX-B: 1\r\nSet-Cookie: b=2\r\nx-b: 2\r\nServer: x\r\nVary: a\r\nvary: b\r\nCONTENT-LENGTH: 0\r\n\r\n',
  'values that are not ASCII':
    'HTTP/1.1 200 OK\r\nX-Name: caf\xe9\r\nContent-Length: 256\r\n\r\n' + everyByte,
  'a compressed body': `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${gzipSync('hi').length}\r\n\r\n${gzipSync('hi').toString('latin1')}`,
  'early hints before it':
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nx-B: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'a continue before it': 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
}

/** Responses to HTTP/1.0 differ, since the proxy sends HTTP/1.1 to the client. */
const asHttp11 = (seen: Seen): Seen => ({
  ...seen,
  answers: seen.answers.map((one) => ({ ...one, start: one.start.replace('HTTP/1.0', 'HTTP/1.1') })),
})

describe('what passes the HTTP proxy is what passes without it', () => {
  it.each(Object.entries(requests))('in a request: %s', async (_, request) => {
    const straight = await play(request, ok, false, false)
    expect(await play(request, ok, true, false)).toEqual(straight)
    expect(straight.request.start).toBe(request.slice(0, request.indexOf('\r\n')))
  })

  it.each(Object.entries(answers))('in an answer: %s', async (name, answer) => {
    const request = 'GET /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n'
    const closes = /end of the conn|1\.0/.test(name)
    const straight = await play(request, answer, false, closes)
    expect(asHttp11(await play(request, answer, true, closes))).toEqual(asHttp11(straight))
  })

  it('in the answer to HEAD', async () => {
    const request = 'HEAD /mcp HTTP/1.1\r\nHost: {host}\r\n\r\n'
    for (const answer of [
      'HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n',
      'HTTP/1.1 200 OK\r\nX: y\r\n\r\n',
    ]) {
      expect(await play(request, answer, true, false)).toEqual(await play(request, answer, false, false))
    }
  })
})

describe('an exchange through the HTTP proxy', () => {
  it('is told in the order in which it happened, as it was received', async () => {
    const upstream = await stage.rawUpstream((socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 201 Made\r\nX-a: 1\r\nContent-Length: 2\r\n\r\nok'))
    })
    const proxy = await stage.proxy(upstream)
    const head = `POST /mcp?x HTTP/1.1\r\nHOST: localhost:${proxy.port}\r\nContent-Length: 2\r\n\r\n`
    await stage.client(proxy.port, `${head}hi`).until((bytes) => bytes.includes('ok'))
    await until('all is told', () => proxy.events.length === 6)
    expect(wordsOf(proxy.events)).toEqual([
      'request POST /mcp?x',
      'request-body hi',
      'request-end',
      'response 201',
      'response-body ok',
      'response-end',
    ])
    expect(proxy.events[0]).toMatchObject({
      exchange: 0,
      connection: 0,
      headers: ['HOST', `localhost:${proxy.port}`, 'Content-Length', '2'],
    })
    expect(proxy.events[3]).toMatchObject({ headers: ['X-a', '1', 'Content-Length', '2'] })
    const times = proxy.events.map(({ atMs }) => atMs)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it("uses the upstream's query for a request to just its path", async () => {
    const paths: string[] = []
    const upstream = await stage.httpUpstream((request, response) => {
      paths.push(request.url!)
      response.end()
    })
    const proxy = await stage.proxy(`http://127.0.0.1:${upstream}/mcp?key=1`)
    expect(proxy.url).toBe(`http://127.0.0.1:${proxy.port}/mcp`)
    for (const path of ['/mcp', '/mcp?a=b', '/other'])
      await fetch(new URL(path, proxy.url)).then((r) => r.text())
    expect(paths).toEqual(['/mcp?key=1', '/mcp?a=b', '/other'])
  })

  it('waits for the upstream to ask for a body that the client offers', async () => {
    const upstream = await stage.httpUpstream(
      (request, response) => request.pipe(response),
      (server) =>
        server.on('checkContinue', (request, response) => {
          if (request.url === '/no') return response.writeHead(417).end()
          response.writeContinue()
          return request.pipe(response)
        }),
    )
    const { port } = await stage.proxy(upstream)
    const head = (path: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`
    const client = stage.client(port, head('/yes'))
    await client.until((bytes) => bytes.toString() === 'HTTP/1.1 100 Continue\r\n\r\n')
    client.socket.write('ok')
    await client.until((bytes) => bytes.includes('ok'))
    const other = stage.client(port, head('/no'))
    expect((await other.until((bytes) => bytes.includes('\r\n\r\n'))).toString()).toMatch(/^HTTP\/1.1 417/)
  })

  it('keeps the order of requests that a client sends at once', async () => {
    const order: string[] = []
    const upstream = await stage.httpUpstream((request, response) => {
      order.push(request.url!)
      setImmediate(() => response.end(`[${request.url}]`))
    })
    const proxy = await stage.proxy(upstream)
    const paths = Array.from({ length: 10 }, (_, n) => `/${n}`)
    const texts = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost:${proxy.port}\r\n\r\n`)
    const client = stage.client(proxy.port, texts.join(''))
    const all = await client.until((bytes) => bytes.includes('[/9]'))
    expect(all.toString().match(/\[.*?\]/g)).toEqual(paths.map((path) => `[${path}]`))
    expect(order).toEqual(paths)
  })

  it('uses one connection for the requests of a client, and another one once the upstream closes it', async () => {
    const connections: Socket[] = []
    const upstream = await stage.httpUpstream((request, response) => {
      if (!connections.includes(request.socket)) connections.push(request.socket)
      if (request.url === '/soon') response.setHeader('Keep-Alive', 'timeout=1')
      request.resume().on('end', () => response.end(`[${connections.length}]`))
    })
    const proxy = await stage.proxy(upstream)
    const client = stage.client(proxy.port)
    const used: string[] = []
    const ask = async (path: string): Promise<void> => {
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost:${proxy.port}\r\nContent-Length: 2\r\n\r\n{}`
      client.socket.write(head, 'latin1')
      const all = await client.until((bytes) => bytes.toString().split(']').length > used.length + 1)
      used.push(
        all
          .toString()
          .match(/\[\d+\]/g)!
          .at(-1)!,
      )
    }
    for (const path of ['/', '/', '/', '/soon', '/', '/']) await ask(path)
    const [idle] = connections.slice(-1)
    idle!.end()
    await new Promise((done) => idle!.on('close', done))
    await ask('/')
    await ask('/')
    expect(used.join(' ')).toBe('[1] [1] [1] [1] [2] [2] [3] [3]')
  })

  it('is not mixed up with others: 200 clients, 5 requests each', async () => {
    const upstream = await stage.httpUpstream((request, response) => {
      response.setHeader('x-echo', request.headers['x-id']!)
      request.pipe(response)
    })
    const proxy = await stage.proxy(upstream)
    const wrong: string[] = []
    await Promise.all(
      Array.from({ length: 200 }, async (_, client) => {
        for (let n = 0; n < 5; n += 1) {
          const id = `${client}-${n}`
          const body = `${id}:${'x'.repeat(client * 17)}`
          const answer = await fetch(proxy.url, { method: 'POST', body, headers: { 'x-id': id } })
          if ((await answer.text()) !== body || answer.headers.get('x-echo') !== id) wrong.push(id)
        }
      }),
    )
    expect(wrong).toEqual([])
    const counts = new Map<string, number>()
    for (const { kind } of proxy.events) counts.set(kind, (counts.get(kind) ?? 0) + 1)
    expect(counts.get('request')).toBe(1000)
    expect(counts.get('response-end')).toBe(1000)
    expect(counts.get('failed')).toBe(undefined)
  })
})
