import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectHttp } from '../../src/link/index.js'

const server = createServer((request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end()
  let body = ''
  request.on('data', (chunk) => (body += String(chunk)))
  request.on('end', () => {
    const { id } = JSON.parse(body) as { id: number }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n\n`)
    response.end()
  })
})
let url = new URL('http://127.0.0.1')
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
})
afterAll(() => new Promise((done) => server.close(done)))

describe('a client of a server without sessions', () => {
  it.each([0, 1, 2, 3])(
    'closes without an error wherever its last response is, %i turns after the answer',
    async (turns) => {
      for (let i = 0; i < 5; i += 1) {
        let answered = (_text: string): void => undefined
        const answer = new Promise<string>((resolve) => (answered = resolve))
        const connection = await connectHttp(
          url,
          {},
          { message: answered, failed: () => answered('failed'), ended: () => answered('ended') },
        )
        await connection.send({
          text: `{"jsonrpc":"2.0","id":${i},"method":"ping"}`,
          method: 'ping',
          requests: 1,
        })
        expect(await answer).toBe(`{"jsonrpc":"2.0","id":${i},"result":{}}`)
        for (let turn = 0; turn < turns; turn += 1) await new Promise((done) => setImmediate(done))
        await connection.close()
      }
    },
  )
})

/** Messages that a client received, and a way to wait for them. */
function heard(): {
  events: Parameters<typeof connectHttp>[2]
  until: (count: number) => Promise<readonly string[]>
} {
  const texts: string[] = []
  let told = (): void => undefined
  const take = (text: string): void => {
    texts.push(text)
    told()
  }
  return {
    events: {
      message: take,
      failed: (_frame, reason) => take(`failed: ${reason}`),
      ended: (reason) => take(`ended: ${reason}`),
    },
    until: (count) =>
      new Promise((resolve) => {
        told = () => void (texts.length >= count && resolve(texts))
        told()
      }),
  }
}

const asking = (id: number): Parameters<Awaited<ReturnType<typeof connectHttp>>['send']>[0] => ({
  text: `{"jsonrpc":"2.0","id":${id},"method":"ping"}`,
  method: 'ping',
  requests: 1,
})

async function serving(onRequest: RequestListener): Promise<{ url: URL; close(): Promise<unknown> }> {
  const other = createServer(onRequest)
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  return {
    url: new URL(`http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`),
    close: () => {
      other.closeAllConnections()
      return new Promise((done) => other.close(done))
    },
  }
}

describe('an event stream that a server cuts', () => {
  it('is followed by its last event id, however often that is', async () => {
    let cuts = 0
    const polled = await serving((request, response) => {
      request.resume()
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      cuts += 1
      const data = cuts < 40 ? '' : '{"jsonrpc":"2.0","id":1,"result":{}}'
      response.end(`id: ${cuts}\nretry: 1\ndata: ${data}\n\n`)
    })
    const { events, until } = heard()
    const connection = await connectHttp(polled.url, {}, events)
    await connection.send(asking(1))
    expect(await until(1)).toEqual(['{"jsonrpc":"2.0","id":1,"result":{}}'])
    expect(cuts).toBe(40)
    await connection.close()
    await polled.close()
  })

  it('is not taken up at once where the server asks for a pause that no timer takes', async () => {
    const warned: string[] = []
    const warn = (warning: Error): void => void warned.push(warning.name)
    process.on('warning', warn)
    let cuts = 0
    const pausing = await serving((request, response) => {
      request.resume()
      cuts += 1
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.end(`id: 1\nretry: ${2 ** 53}\ndata: {"jsonrpc":"2.0","method":"notifications/cut"}\n\n`)
    })
    const { events, until } = heard()
    const connection = await connectHttp(pausing.url, {}, events)
    await connection.send(asking(1))
    await until(1)
    // Another conversation with the same server, begun after the cut.
    await fetch(pausing.url, { method: 'POST' }).then((response) => response.text())
    await connection.close()
    await pausing.close()
    process.off('warning', warn)
    expect([cuts, warned]).toEqual([2, []])
  })

  it("is nobody's failure when the client closes before it is taken up again", async () => {
    let answered = (): void => undefined
    const cut = new Promise<void>((resolve) => (answered = resolve))
    const pausing = await serving((request, response) => {
      request.resume()
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.end('id: 1\nretry: 60000\ndata: {"jsonrpc":"2.0","method":"notifications/cut"}\n\n', answered)
    })
    const { events, until } = heard()
    const connection = await connectHttp(pausing.url, {}, events)
    await connection.send(asking(1))
    await cut
    await until(1)
    // By then it has mostly seen the end, and pauses.
    for (let turn = 0; turn < 200; turn += 1) await new Promise((done) => setImmediate(done))
    await connection.close()
    expect(await until(1)).toEqual(['{"jsonrpc":"2.0","method":"notifications/cut"}'])
    await pausing.close()
  })

  it('is opened again where it belongs to no request, without an event id too', async () => {
    let opened = 0
    const cutting = await serving((request, response) => {
      request.resume()
      if (request.method !== 'GET') return void response.writeHead(202).end()
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      opened += 1
      response.end(`retry: 1\ndata: {"jsonrpc":"2.0","method":"notifications/${opened}"}\n\n`)
    })
    const { events, until } = heard()
    const connection = await connectHttp(cutting.url, {}, events)
    const method = 'notifications/initialized'
    await connection.send({ text: `{"jsonrpc":"2.0","method":"${method}"}`, method, requests: 0 })
    const first = (await until(3)).slice(0, 3).map((text) => (JSON.parse(text) as { method: string }).method)
    expect(first).toEqual(['notifications/1', 'notifications/2', 'notifications/3'])
    await connection.close()
    await cutting.close()
  })
})

it('waits for an answer that comes on the other stream, where a server accepts the request only', async () => {
  let say = (_event: string): void => undefined
  const odd = await serving((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
        say = (event) => void response.write(event)
        return
      }
      response.writeHead(202).end()
      const { id } = JSON.parse(body) as { id?: number }
      if (id !== undefined) say(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n\n`)
    })
  })
  const { events, until } = heard()
  const connection = await connectHttp(odd.url, {}, events)
  await connection.send(asking(1))
  expect(await until(1)).toEqual(['failed: HTTP 202 without a response'])
  const method = 'notifications/initialized'
  await connection.send({ text: `{"jsonrpc":"2.0","method":"${method}"}`, method, requests: 0 })
  await connection.send(asking(2))
  expect((await until(2))[1]).toBe('{"jsonrpc":"2.0","id":2,"result":{}}')
  await connection.close()
  await odd.close()
})

it('says that a server is gone that cut its stream and listens no more', async () => {
  const leaving = await serving((request, response) => {
    request.resume()
    response.writeHead(200, { 'Content-Type': 'text/event-stream', Connection: 'close' })
    response.once('close', () => void leaving.close())
    response.end('id: 1\nretry: 200\ndata: \n\n')
  })
  const { events, until } = heard()
  const connection = await connectHttp(leaving.url, {}, events)
  await connection.send(asking(1))
  expect((await until(1))[0]).toMatch(/^ended: the server is unreachable: /)
  await connection.close()
})

// A warning of the process fails it (test/setup.ts).
it('has any number of requests open without a warning of Node', async () => {
  const waiting: (() => void)[] = []
  const slow = await serving((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { id } = JSON.parse(body) as { id: number }
      response.writeHead(200, { 'Content-Type': 'application/json' })
      waiting.push(() => response.end(JSON.stringify({ jsonrpc: '2.0', id, result: {} })))
      if (waiting.length === 25) for (const answer of waiting) answer()
    })
  })
  const { events, until } = heard()
  const connection = await connectHttp(slow.url, {}, events)
  for (let id = 0; id < 25; id += 1) await connection.send(asking(id))
  expect(await until(25)).toHaveLength(25)
  await connection.close()
  await slow.close()
})
