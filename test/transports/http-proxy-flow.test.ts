import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { settled, until } from '../behaviour/stage.js'
import {
  askManually,
  chunkOf,
  useHttpStage,
  eventStream,
  gone,
  headOf,
  openManualUpstream,
  wordsOf,
} from './http-proxy-stage.js'

const stage = useHttpStage()

const size = 50_000_000
/** Kernel buffers of four sockets, and ours. */
const mayWait = 30_000_000
const block = Buffer.alloc(100_000, 'x')

/** Writes as fast as the peer reads, and counts the bytes. */
function pour(socket: Socket): () => number {
  let left = size
  let taken = 0
  const more = (): void => {
    while (left > 0) {
      left -= block.length
      if (!socket.write(block, (error) => (taken += error ? 0 : block.length))) {
        socket.once('drain', more)
        return
      }
    }
  }
  more()
  return () => taken
}

describe('back pressure through the HTTP proxy', () => {
  it('stops reading from the upstream while the client does not read', async () => {
    const upstream = await openManualUpstream(stage)
    let seenBytes = 0
    const { port } = await stage.proxy(upstream.port, {
      onEvent: (event) => (seenBytes += event.kind === 'response-body' ? event.bytes.length : 0),
    })
    const client = stage.client(port, headOf('GET', port))
    client.socket.pause()
    const socket = await upstream.next()
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`)
    const taken = pour(socket)
    expect(await settled(taken)).toBeLessThan(mayWait)
    expect(seenBytes).toBeLessThan(mayWait)
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(mayWait)
    const before = seenBytes
    client.socket.resume()
    await until('all of it comes', () => client.socket.bytesRead > size)
    expect(before).toBeLessThan(seenBytes)
    expect(seenBytes).toBe(size)
  })

  it('reports the end of a response only if the client got all of it', async () => {
    /** Sends a response to a client that reads only once the proxy was closed. */
    const pour = async (bytes: number): Promise<{ seen: number; got: number; words: string[] }> => {
      const upstream = await openManualUpstream(stage)
      let seen = 0
      const words: string[] = []
      const proxy = await stage.proxy(upstream.port, {
        onEvent: (event) => {
          if (event.kind === 'response-body') seen += event.bytes.length
          else words.push(event.kind)
        },
      })
      const client = stage.client(proxy.port, headOf('GET', proxy.port))
      client.socket.pause()
      const socket = await upstream.next()
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`)
      socket.write(Buffer.alloc(bytes))
      await settled(() => seen)
      await proxy.close()
      client.socket.resume()
      await client.closed
      const all = client.received()
      return { seen, got: all.length - all.indexOf('\r\n\r\n') - 4, words }
    }
    // As much as the way to a client takes: the proxy has read all of it, but the client cannot get the last bytes.
    let { seen: bytes } = await pour(size)
    for (let attempt = 0; attempt < 8; attempt += 1) {
      const { seen, got, words } = await pour(bytes)
      if (seen === bytes && got < bytes) return expect(words.at(-1)).toBe('failed')
      bytes = seen < bytes ? seen : bytes + 32 * 1024
    }
    expect.fail('the client always got all of it')
  })

  it('stops reading from the client while the upstream does not read', async () => {
    const upstream = await openManualUpstream(stage)
    let seenBytes = 0
    const { port } = await stage.proxy(upstream.port, {
      onEvent: (event) => (seenBytes += event.kind === 'request-body' ? event.bytes.length : 0),
    })
    const client = stage.client(port, headOf('POST', port, `Content-Length: ${size}\r\n`))
    const socket = await upstream.next()
    socket.pause()
    const taken = pour(client.socket)
    expect(await settled(taken)).toBeLessThan(mayWait)
    expect(seenBytes).toBeLessThan(mayWait)
    socket.resume()
    await until('all of it comes', () => socket.bytesRead > size)
    expect(seenBytes).toBe(size)
  })
})

describe('holding and closing the HTTP proxy', () => {
  /** Something else made its way through a proxy meanwhile. */
  async function fence(): Promise<void> {
    const upstream = await stage.httpUpstream((_, response) => response.end('ok'))
    const { url } = await stage.proxy(upstream)
    for (let n = 0; n < 5; n += 1) await fetch(url).then((answer) => answer.text())
  }

  it('reads nothing while it is held, and loses nothing', async () => {
    const upstream = await openManualUpstream(stage)
    const proxy = await stage.proxy(upstream.port)
    const first = stage.client(proxy.port, headOf('GET', proxy.port))
    const socket = await upstream.next()
    socket.write(eventStream)
    await first.until((bytes) => bytes.includes('\r\n\r\n'))
    const told = proxy.events.length
    proxy.hold(true)
    socket.write(chunkOf('data: 1\n\n'))
    const second = stage.client(proxy.port, headOf('GET', proxy.port))
    await fence()
    expect(proxy.events).toHaveLength(told)
    expect(upstream.sockets).toHaveLength(1)
    expect(first.received().includes('data')).toBe(false)
    proxy.hold(false)
    await first.until((bytes) => bytes.includes('data: 1'))
    const other = await upstream.next(1)
    proxy.hold(true)
    other.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    await fence()
    expect(second.received().toString()).toBe('')
    proxy.hold(false)
    await second.until((bytes) => bytes.includes('ok'))
  })

  it.each([
    ['of known length', 'Content-Length: 2\r\n', '{}'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n', chunkOf('{}') + '0\r\n\r\n'],
  ])(
    'reports the end of a body %s before what follows from it, also when the body made it hold',
    async (_, headers, body) => {
      const upstream = await openManualUpstream(stage)
      let isPosted = false
      const words: string[] = []
      const proxy = await stage.proxy(upstream.port, {
        onEvent: (event) => {
          words.push(`${event.kind} ${event.exchange}`)
          if (event.kind !== 'request-body') return
          isPosted = true
          proxy.hold(true)
        },
      })
      const listener = stage.client(proxy.port, headOf('GET', proxy.port))
      const events = await upstream.next()
      events.write(eventStream)
      await listener.until((bytes) => bytes.includes('\r\n\r\n'))
      const client = stage.client(proxy.port, headOf('POST', proxy.port, headers))
      const socket = await upstream.next(1)
      // The body comes later than its head, so it passes as soon as it is parsed.
      client.socket.write(body)
      await until('the body passed', () => isPosted)
      events.write(chunkOf('data: the result\n\n'))
      socket.write('HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n')
      await fence()
      proxy.hold(false)
      await listener.until((bytes) => bytes.includes('the result'))
      await client.until((bytes) => bytes.includes('202'))
      expect(words.indexOf('request-end 1')).toBeGreaterThan(-1)
      expect(words.indexOf('request-end 1')).toBeLessThan(words.indexOf('response-body 0'))
    },
  )

  it('stops a client that sends a long body while it is held', async () => {
    const upstream = await openManualUpstream(stage)
    const proxy = await stage.proxy(upstream.port)
    proxy.hold(true)
    const client = stage.client(proxy.port, headOf('POST', proxy.port, `Content-Length: ${size}\r\n`))
    expect(await settled(pour(client.socket))).toBeLessThan(mayWait)
    expect(proxy.events).toEqual([])
    proxy.hold(false)
    const socket = await upstream.next()
    socket.resume()
    await until('all of it comes', () => socket.bytesRead > size)
  })

  it('tells the upstream of a client that disconnects while its request is held', async () => {
    const { proxy, client, socket } = await askManually(stage)
    socket.resume()
    proxy.hold(true)
    client.socket.destroy()
    await gone(socket)
    proxy.hold(false)
    expect(wordsOf(proxy.events).at(-1)).toBe('failed by client')
  })

  it('ends everything when it is closed, also twice', async () => {
    const upstream = await openManualUpstream(stage)
    const proxy = await stage.proxy(upstream.port)
    const client = stage.client(proxy.port, headOf('GET', proxy.port))
    const idle = stage.client(proxy.port)
    const socket = await upstream.next()
    socket.resume()
    socket.write(eventStream)
    await client.until((bytes) => bytes.includes('\r\n\r\n'))
    await Promise.all([proxy.close(), proxy.close()])
    await proxy.close()
    await Promise.all([client.closed, idle.closed, gone(socket)])
    expect(wordsOf(proxy.events).at(-1)).toBe('failed by wiretape')
    await expect(fetch(proxy.url)).rejects.toThrow('fetch failed')
    await stage.proxy(upstream.port, { port: proxy.port })
  })
})
