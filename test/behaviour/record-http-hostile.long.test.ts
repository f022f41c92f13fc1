import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import http from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chunkOf, createHttpStage, eventStream, type HttpStage } from '../transports/http-proxy-stage.js'
import { cli, createStage, printed, type Actor, type Stage } from './stage.js'
import { linesOfTape, linesOfType } from './tape-bytes.js'

let stage: Stage
let net: HttpStage
beforeEach(() => {
  stage = createStage()
  net = createHttpStage()
})
afterEach(async () => {
  await stage.close()
  await net.close()
})

/** Starts a recorder in front of a local port. */
async function record(port: number): Promise<{ recorder: Actor; url: URL }> {
  const upstream = `http://127.0.0.1:${port}/mcp`
  const command = [process.execPath, cli, 'record', '--url', upstream, '--out', stage.out, '--quiet']
  const recorder = stage.start(command, { detached: true })
  await printed(recorder, '\n')
  return { recorder, url: new URL(recorder.stdout().toString().trim()) }
}

async function ended(recorder: Actor): Promise<void> {
  recorder.child.kill('SIGTERM')
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
  expect(recorder.stderr().toString()).toBe('')
}

const call = (id: number): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: `tool ${id}` } })

interface Outcome {
  readonly status?: number
  readonly body: Buffer
  /** Whether the client could notice that the body is incomplete. */
  readonly broken: boolean
}

/** One call on a connection of its own. @param onBytes called with the size of each part of the body */
function ask(url: URL, id: number, onBytes: (size: number) => void = () => undefined): Promise<Outcome> {
  return new Promise((done) => {
    const chunks: Buffer[] = []
    const headers = { 'Content-Type': 'application/json' }
    const request = http.request(url, { method: 'POST', agent: false, headers }, (response) => {
      const end = (broken: boolean): void =>
        done({ status: response.statusCode!, body: Buffer.concat(chunks), broken })
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        onBytes(chunk.length)
      })
      response.on('end', () => end(!response.complete))
      response.on('error', () => end(true))
    })
    request.on('error', () => done({ body: Buffer.alloc(0), broken: true }))
    request.end(call(id))
  })
}

/** Calls `take` with the number of the call on a socket; head and body may arrive separately. */
function onCall(socket: Socket, take: (id: number) => void): void {
  let said = ''
  socket.on('data', (bytes: Buffer) => {
    said += bytes.toString()
    const id = /"id":(\d+)[^]*\}$/.exec(said)?.[1]
    if (id === undefined) return
    said = ''
    take(Number(id))
  })
}

const answerTo = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, result: { ok: true } })

function answerWhole(socket: Socket, id: number): void {
  const body = answerTo(id)
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  socket.write(head + body)
}

describe('an upstream that breaks its responses', () => {
  it('does not disturb the responses to others, and the tape has the outcome of each', async () => {
    const half = answerTo(1).slice(0, 20)
    const misdeeds: Readonly<Record<number, (socket: Socket) => void>> = {
      // Half a body, then the connection closes.
      0: (socket) =>
        socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n${half}`),
      // A reset before a response.
      1: (socket) => socket.resetAndDestroy(),
      // A reset in the middle of a stream.
      2: (socket) => {
        socket.write(eventStream + chunkOf('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'))
        setImmediate(() => socket.resetAndDestroy())
      },
      // Invalid chunks.
      3: (socket) => socket.write(`${eventStream}zz\r\nwhat\r\n`),
    }
    const port = await net.rawUpstream((socket) => {
      onCall(socket, (id) => {
        const misdeed = misdeeds[id % 5]
        if (misdeed) misdeed(socket)
        else answerWhole(socket, id)
      })
    })
    const { recorder, url } = await record(port)
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, id) => ask(url, id)))
    for (const [id, { body, broken }] of outcomes.entries()) {
      expect({ id, broken }).toEqual({ id, broken: id % 5 !== 4 })
      if (!broken) expect(body.toString()).toBe(answerTo(id))
      if (id % 5 === 0) expect(body.toString()).toBe(half)
    }
    await ended(recorder)

    const tape = stage.tape()
    const messages = linesOfType(tape, undefined)
    const told = linesOfType(tape, 'http')
    for (const request of messages.filter(({ dir }) => dir === 'in')) {
      const whole = request.raw.id % 5 === 4
      const answer = messages.find(({ corr }) => corr === request.id)
      expect(answer?.raw).toEqual(whole ? JSON.parse(answerTo(request.raw.id)) : undefined)
      const why = told
        .filter(({ exchange }) => exchange === request.http.exchange)
        .flatMap((line) => line.why ?? [])
      expect(why).toEqual(whole ? [] : [expect.stringMatching(/^upstream: /)])
    }
    expect(messages.filter(({ dir }) => dir === 'in')).toHaveLength(20)
    expect(linesOfTape(tape).at(-1)).toMatchObject({ type: 'end', exitCode: 0 })
  })
})

describe('an upstream that trickles', () => {
  it('is read byte by byte, and recorded as one message', async () => {
    const event = `event: message\nid: 7\ndata: ${answerTo(1)}\n\n`
    let sent = 0
    let received = 0
    let more: () => void = () => undefined
    const port = await net.rawUpstream((socket) => {
      more = () => {
        if (sent < event.length) socket.write(chunkOf(event[sent++]!))
        else socket.end('0\r\n\r\n')
      }
      onCall(socket, () => {
        socket.write(eventStream)
        more()
      })
    })
    const { recorder, url } = await record(port)
    // Sends the next byte only when the one before has arrived.
    const { body, broken } = await ask(url, 1, (size) => {
      received += size
      if (received === sent) more()
    })
    expect({ body: body.toString(), broken }).toEqual({ body: event, broken: false })
    await ended(recorder)
    const [request, answer, ...others] = linesOfType(stage.tape(), undefined)
    expect(others).toEqual([])
    expect(answer).toMatchObject({ corr: request!.id, sse: { event: 'message', id: '7' } })
  })
})

describe('a response of 50 MB', () => {
  it('arrives unchanged, and is on the tape', async () => {
    const text = 'ä€🎞"\\\\ '.repeat(4_000_000)
    const body = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"text":${JSON.stringify(text)}}}`)
    expect(body.length).toBeGreaterThan(50_000_000)
    const port = await net.httpUpstream((request, response) => {
      request
        .resume()
        .on('end', () => response.writeHead(200, { 'Content-Type': 'application/json' }).end(body))
    })
    const { recorder, url } = await record(port)
    const outcome = await ask(url, 1)
    expect(sha256(outcome.body)).toBe(sha256(body))
    await ended(recorder)
    const tape = linesOfTape(stage.tape())
    expect(tape.filter(({ type }) => type === 'gap')).toEqual([])
    const [request, answer] = tape.filter(({ type }) => type === undefined)
    expect(answer!.corr).toBe(request!.id)
    expect(answer!.raw.result.text === text).toBe(true)
  })
})

describe('10,000 events in one exchange', () => {
  it('arrive in order, and are messages on the tape in the same order', async () => {
    const count = 10_000
    const port = await net.httpUpstream((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        for (let n = 1; n < count; n += 1) {
          const message = { jsonrpc: '2.0', method: 'notifications/message', params: { data: n } }
          response.write(`id: ${n}\ndata: ${JSON.stringify(message)}\n\n`)
        }
        response.end(`data: ${answerTo(1)}\n\n`)
      })
    })
    const { recorder, url } = await record(port)
    const { body, broken } = await ask(url, 1)
    expect(broken).toBe(false)
    const arrived = body.toString().split('\n\n').slice(0, -1)
    expect(arrived).toHaveLength(count)
    await ended(recorder)
    const tape = stage.tape()
    expect(linesOfType(tape, 'gap')).toEqual([])
    const [request, ...answers] = linesOfType(tape, undefined)
    const numbers = answers.slice(0, -1).map(({ raw, sse }) => [raw.params.data, sse.id])
    expect(numbers).toEqual(Array.from({ length: count - 1 }, (_, n) => [n + 1, String(n + 1)]))
    expect(answers.at(-1)!.corr).toBe(request!.id)
    expect(new Set(answers.map(({ http }) => http.exchange))).toEqual(new Set([request!.http.exchange]))
  })
})

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
