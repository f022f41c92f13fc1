/** The stage of a test of the HTTP proxy: upstreams, proxies and clients, all on port 0, closed together. */
import http from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { afterEach } from 'vitest'
import { until } from '../behaviour/stage.js'
import {
  startHttpProxy,
  type HttpEvent,
  type HttpProxy,
  type HttpProxyOptions,
} from '../../src/transports/index.js'

export interface SeenProxy extends HttpProxy {
  readonly port: number
  readonly events: HttpEvent[]
  readonly notices: string[]
}

/** A client that writes bytes and collects bytes. */
export interface RawClient {
  readonly socket: Socket
  received(): Buffer
  /** Resolves when `check` is true of what came, or fails when the connection closes before. */
  until(check: (received: Buffer) => boolean): Promise<Buffer>
  /** Resolves with the error code when the connection is closed, `undefined` when it ended cleanly. */
  readonly closed: Promise<string | undefined>
}

export interface HttpStage {
  httpUpstream(listener: http.RequestListener, prepare?: (server: http.Server) => void): Promise<number>
  rawUpstream(onSocket: (socket: Socket) => void): Promise<number>
  proxy(upstream: string | number, options?: Partial<HttpProxyOptions>): Promise<SeenProxy>
  client(port: number, text?: string | Buffer): RawClient
  close(): Promise<void>
}

/** A stage that is closed after each test. */
export function useHttpStage(): HttpStage {
  const stage = createHttpStage()
  afterEach(() => stage.close())
  return stage
}

export function createHttpStage(): HttpStage {
  const closers: (() => Promise<unknown> | void)[] = []
  function listen(server: net.Server): Promise<number> {
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
    })
    closers.push(() => {
      for (const socket of sockets) socket.destroy()
      return new Promise((done) => server.close(done))
    })
    return new Promise((done) =>
      server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port)),
    )
  }
  return {
    httpUpstream(listener, prepare) {
      const server = http.createServer({ requestTimeout: 0 }, listener)
      prepare?.(server)
      return listen(server)
    },
    rawUpstream: (onSocket) => listen(net.createServer({ noDelay: true }, onSocket)),
    async proxy(upstream, options = {}) {
      const events: HttpEvent[] = []
      const notices: string[] = []
      const proxy = await startHttpProxy({
        upstream: new URL(typeof upstream === 'number' ? `http://127.0.0.1:${upstream}/mcp` : upstream),
        host: '127.0.0.1',
        port: 0,
        onEvent: (event) =>
          events.push('bytes' in event ? { ...event, bytes: Buffer.from(event.bytes) } : event),
        onNotice: (line) => notices.push(line),
        ...options,
      })
      closers.push(() => proxy.close())
      return Object.assign(proxy, { port: Number(new URL(proxy.url).port), events, notices })
    },
    client(port, text) {
      const client = createRawClient(port)
      closers.push(() => {
        client.socket.destroy()
      })
      if (text !== undefined) client.socket.write(text)
      return client
    },
    async close() {
      for (const close of closers.splice(0).reverse()) await close()
    },
  }
}

function createRawClient(port: number): RawClient {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
  const chunks: Buffer[] = []
  let code: string | undefined
  const waiting = new Set<() => void>()
  socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code ?? error.message))
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    for (const look of waiting) look()
  })
  const closed = new Promise<string | undefined>((done) => socket.once('close', () => done(code)))
  const received = (): Buffer => Buffer.concat(chunks)
  return {
    socket,
    received,
    closed,
    until(check) {
      return new Promise((done, fail) => {
        const look = (): void => {
          const bytes = received()
          if (!check(bytes)) return
          waiting.delete(look)
          done(bytes)
        }
        waiting.add(look)
        void closed.then(() => {
          look()
          fail(
            new Error(
              `closed (${code}) after ${JSON.stringify(received().toString('latin1').slice(0, 500))}`,
            ),
          )
        })
        look()
      })
    },
  }
}

/** The events of all exchanges as short words, bodies joined. */
export function wordsOf(events: readonly HttpEvent[]): string[] {
  return events.map((event) => {
    if ('bytes' in event) return `${event.kind} ${Buffer.from(event.bytes).toString('latin1')}`
    if (event.kind === 'request') return `request ${event.method} ${event.path}`
    if (event.kind === 'response') return `response ${event.status}`
    if (event.kind === 'failed') return `failed by ${event.by} ${event.status ?? ''}`.trim()
    return event.kind
  })
}

export interface RawMessage {
  readonly start: string
  /** Lines without those that speak of one connection only. */
  readonly headers: readonly string[]
  readonly body: string
  readonly complete: boolean
  readonly rest: Buffer
}

const hopLine = /^(connection|keep-alive|transfer-encoding|te|trailer|upgrade|proxy-\w+):/i

/** Reads one HTTP message out of bytes, strictly enough for a test. Undefined until its head is there. */
export function readMessage(bytes: Buffer, bodiless = false): RawMessage | undefined {
  const head = bytes.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const [start = '', ...lines] = bytes.subarray(0, head).toString('latin1').split('\r\n')
  const rest = bytes.subarray(head + 4)
  const headers = lines.filter((line) => !hopLine.test(line))
  const length = lines.flatMap((line) => /^content-length: *(\d+)/i.exec(line)?.[1] ?? [])[0]
  const none = { start, headers, body: '', complete: true, rest }
  if (bodiless) return none
  if (lines.some((line) => /^transfer-encoding:.*chunked/i.test(line)))
    return { start, headers, ...readChunks(rest) }
  if (length !== undefined) {
    const size = Number(length)
    const body = rest.subarray(0, size).toString('latin1')
    return { start, headers, body, complete: rest.length >= size, rest: rest.subarray(size) }
  }
  return start.startsWith('HTTP') ? { ...none, body: rest.toString('latin1'), complete: false } : none
}

function readChunks(bytes: Buffer): Pick<RawMessage, 'body' | 'complete' | 'rest'> {
  let body = ''
  let at = 0
  for (;;) {
    const end = bytes.indexOf('\r\n', at)
    if (end < 0) return { body, complete: false, rest: bytes.subarray(at) }
    const size = Number.parseInt(bytes.toString('latin1', at, end), 16)
    if (size === 0) {
      const last = bytes.indexOf('\r\n\r\n', end - 0)
      const plain = bytes.toString('latin1', end, end + 4) === '\r\n\r\n'
      if (!plain && last < 0) return { body, complete: false, rest: bytes.subarray(at) }
      const trailers = plain ? '' : bytes.toString('latin1', end + 2, last)
      return { body: body + trailers, complete: true, rest: bytes.subarray((plain ? end : last) + 4) }
    }
    body += bytes.toString('latin1', end + 2, end + 2 + size)
    at = end + 4 + size
  }
}

/** The head of a request for /mcp. @param more further lines */
export function headOf(method: string, port: number, more = ''): string {
  return `${method} /mcp HTTP/1.1\r\nHost: localhost:${port}\r\n${more}\r\n`
}

export const eventStream =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
export const chunkOf = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

export interface ManualUpstream {
  readonly port: number
  /** One for each connection that has sent something. */
  readonly sockets: readonly Socket[]
  next(n?: number): Promise<Socket>
}

/** An upstream that gives its sockets to the test, each when its first request is there. */
export async function openManualUpstream(stage: HttpStage): Promise<ManualUpstream> {
  const sockets: Socket[] = []
  const port = await stage.rawUpstream((socket) => {
    socket.once('data', () => sockets.push(socket))
  })
  return { port, sockets, next: (n = 0) => until('a request reaches the upstream', () => sockets[n]) }
}

/** A GET through a proxy that has reached its upstream; the test answers on `socket`. */
export async function askManually(stage: HttpStage): Promise<{
  readonly proxy: SeenProxy
  readonly client: RawClient
  readonly socket: Socket
}> {
  const upstream = await openManualUpstream(stage)
  const proxy = await stage.proxy(upstream.port)
  const client = stage.client(proxy.port, headOf('GET', proxy.port))
  return { proxy, client, socket: await upstream.next() }
}

/** Resolves when the other side has closed. */
export async function gone(socket: Socket): Promise<void> {
  await until('the socket closes', () => socket.destroyed)
}
