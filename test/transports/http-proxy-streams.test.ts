import { describe, expect, it } from 'vitest'
import { until } from '../behaviour/stage.js'
import {
  askManually,
  chunkOf,
  useHttpStage,
  eventStream,
  gone,
  headOf,
  openManualUpstream,
  readMessage,
  wordsOf,
} from './http-proxy-stage.js'

const stage = useHttpStage()

describe('a stream through the HTTP proxy', () => {
  it('passes an event on before anything else comes', async () => {
    const { proxy, client, socket } = await askManually(stage)
    socket.write(eventStream)
    await client.until((bytes) => bytes.includes('\r\n\r\n'))
    for (const text of [': hello\n\n', 'data: 1\n\n', 'da', 'ta: 2', '\n\n']) {
      const before = client.received().length
      socket.write(chunkOf(text))
      await client.until((bytes) => bytes.length >= before + chunkOf(text).length)
    }
    expect(readMessage(client.received())?.body).toBe(': hello\n\ndata: 1\n\ndata: 2\n\n')
    expect(wordsOf(proxy.events).at(-1)).toBe('response-body \n\n')
  })

  it('passes parts of a request on before anything else comes, and an answer before the request ends', async () => {
    const upstream = await stage.httpUpstream((request, response) => request.pipe(response))
    const { port } = await stage.proxy(upstream)
    const client = stage.client(port, headOf('POST', port, 'Transfer-Encoding: chunked\r\n'))
    for (const text of ['one', 'two', 'three']) {
      client.socket.write(chunkOf(text))
      await client.until((bytes) => bytes.includes(text))
    }
    client.socket.write('0\r\n\r\n')
    await client.until((bytes) => readMessage(bytes)?.complete === true)
  })

  it.each([
    ['before it is answered', ''],
    ['in the middle of an answer', eventStream + chunkOf('data: 1\n\n')],
  ])('is closed at the upstream when the client leaves %s', async (_, answer) => {
    const { proxy, client, socket } = await askManually(stage)
    socket.resume()
    if (answer !== '') {
      socket.write(answer)
      await client.until((bytes) => bytes.includes('data'))
    }
    client.socket.destroy()
    await gone(socket)
    await until('it is told', () => wordsOf(proxy.events).includes('failed by client'))
  })

  it('is closed at the upstream when the client leaves in the middle of a request', async () => {
    const upstream = await openManualUpstream(stage)
    const proxy = await stage.proxy(upstream.port)
    const client = stage.client(proxy.port, `${headOf('POST', proxy.port, 'Content-Length: 100\r\n')}half`)
    const socket = await upstream.next()
    socket.resume()
    await until('half of it is told', () => wordsOf(proxy.events).includes('request-body half'))
    client.socket.destroy()
    await gone(socket)
    await until('it is told', () => wordsOf(proxy.events).includes('failed by client'))
    expect(wordsOf(proxy.events)).not.toContain('request-end')
  })

  it.each([
    ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['a cut chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf'],
  ])('breaks at the client when the upstream breaks, with %s', async (_, answer) => {
    for (const end of ['destroy', 'resetAndDestroy'] as const) {
      const { proxy, client, socket } = await askManually(stage)
      socket.write(answer)
      await client.until((bytes) => bytes.includes('half'))
      socket[end]()
      await client.closed
      expect(readMessage(client.received())).toMatchObject({ body: 'half', complete: false })
      expect(wordsOf(proxy.events).slice(2)).toEqual([
        'response 200',
        'response-body half',
        'failed by upstream',
      ])
    }
  })

  it('resets the connection where the client could take half an answer for a whole one', async () => {
    const upstream = await openManualUpstream(stage)
    const { port } = await stage.proxy(upstream.port)
    const client = stage.client(port, headOf('GET', port).replace('1.1', '1.0'))
    const socket = await upstream.next()
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n')
    await client.until((bytes) => bytes.includes('half'))
    socket.destroy()
    expect(await client.closed).toBe('ECONNRESET')
  })

  it('passes on all that came before the upstream broke, although the client is slow', async () => {
    const { proxy, client, socket } = await askManually(stage)
    proxy.hold(true)
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n`)
    proxy.hold(false)
    await client.until((bytes) => bytes.includes('\r\n\r\n'))
    proxy.hold(true)
    socket.end('half')
    await until('it arrives', () => client.received().includes('half') || socket.destroyed)
    proxy.hold(false)
    await client.closed
    expect(client.received().toString()).toMatch(/half$/)
  })

  it('passes on all that came before the upstream broke, although all of it came while we were held', async () => {
    const { proxy, client, socket } = await askManually(stage)
    proxy.hold(true)
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
    await gone(socket)
    proxy.hold(false)
    await client.closed
    expect(client.received().toString()).toMatch(/half$/)
    expect(wordsOf(proxy.events).slice(-3)).toEqual([
      'response 200',
      'response-body half',
      'failed by upstream',
    ])
  })

  it('passes the head on although the upstream broke right after it', async () => {
    const { proxy, client, socket } = await askManually(stage)
    proxy.hold(true)
    socket.end('HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 100\r\n\r\n')
    await gone(socket)
    proxy.hold(false)
    await client.closed
    expect(client.received().toString()).toMatch(/^HTTP\/1\.1 200 OK\r\nX: y\r\n/)
  })
})
