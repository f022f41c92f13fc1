// @ts-check
/**
 * An HTTP client with little overhead: it writes requests to sockets as bytes, and reads only the length and the id of
 * a response. Event streams, whose rate is not measured, go through Node's own client.
 */
import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { request as send } from 'node:http'
import { createConnection } from 'node:net'
import { requestsOf } from './requests.mjs'

const REQUEST_BYTES = 100
const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = '\r\n0\r\n\r\n'
/** The start of a request that its response repeats: the version and the id. */
const SAME_BYTES = '{"jsonrpc":"2.0","id":1000000000'.length
/** Protocol version of a session. */
const VERSION = '2025-11-25'
/** Longest silence while a response is due. */
const STALL_MS = 30_000

/** @typedef {ReturnType<typeof createHttpClient>} HttpClient */
/**
 * @typedef {object} Connection
 * @property {(body: Buffer) => Promise<void>} ask Sends a request. Resolves when its response has arrived.
 * @property {() => void} close
 */

/**
 * @param {string} address
 * @param {{ proxy?: string, session?: string }} [way] The proxy to send requests through; the id of the session they
 * belong to.
 */
export function createHttpClient(address, { proxy, session } = {}) {
  const url = new URL(address)
  const peer = new URL(proxy ?? address)
  // RFC 9112, 3.2.2: a request to a proxy names the whole URL.
  const target = proxy === undefined ? url.pathname : url.href
  const bodies = requestsOf(REQUEST_BYTES + 1)
  const counts = { in: 0, out: 0 }

  /** @returns {Promise<Connection>} */
  async function connect() {
    const socket = createConnection({ host: peer.hostname, port: Number(peer.port), noDelay: true })
    await once(socket, 'connect')
    const head = Buffer.from(
      `POST ${target} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n` +
        (session === undefined ? '' : `Mcp-Session-Id: ${session}\r\nMCP-Protocol-Version: ${VERSION}\r\n`) +
        `Accept: application/json, text/event-stream\r\nContent-Length: ${REQUEST_BYTES}${HEAD_END}`,
      'latin1',
    )
    /** @type {{ body: Buffer, done: () => void, fail: (problem: Error) => void } | undefined} */
    let due
    let received = Buffer.alloc(0)

    const fail = (/** @type {string} */ why) => {
      due?.fail(new Error(why))
      due = undefined
    }
    socket.setTimeout(STALL_MS, () => fail(`no answer for ${STALL_MS} ms`))
    socket.on('error', (error) => fail(error.message))
    socket.on('close', () => fail('the connection closed before the answer'))
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const bodyAt = received.indexOf(HEAD_END) + HEAD_END.length
      if (bodyAt < HEAD_END.length) return
      const answerHead = received.toString('latin1', 0, bodyAt)
      const end = endOf(received, answerHead, bodyAt)
      if (end === undefined) return fail(`an answer that was not expected: ${answerHead}`)
      if (received.length < end) return
      // In an event stream, other lines precede the response.
      const answerAt = received.indexOf('{"jsonrpc"', bodyAt)
      const answered = received.subarray(answerAt, answerAt + SAME_BYTES)
      if (!due || received.length > end || !due.body.subarray(0, SAME_BYTES).equals(answered))
        return fail('an answer to something else')
      const { done } = due
      due = undefined
      received = Buffer.alloc(0)
      counts.out++
      done()
    })

    return {
      ask: (body) =>
        new Promise((done, fail) => {
          due = { body, done, fail }
          socket.write(Buffer.concat([head, body]))
        }),
      close: () => void socket.destroy(),
    }
  }

  // Clients send no line end after a body.
  const nextBody = () => bodies(counts.in++, 1).subarray(0, REQUEST_BYTES)

  return {
    /** Messages sent and received. */
    counts,

    /**
     * Sends one request after the other, on one connection.
     *
     * @param {{ count?: number, forMs: number }} limits The first limit that is reached ends the run.
     * @returns {Promise<number[]>} The round trips in microseconds.
     */
    async roundTrips({ count = Infinity, forMs }) {
      const connection = await connect()
      const roundTrips = []
      const end = performance.now() + forMs
      let sentAt = performance.now()
      while (sentAt < end && roundTrips.length < count) {
        await connection.ask(nextBody())
        const now = performance.now()
        roundTrips.push((now - sentAt) * 1000)
        sentAt = now
      }
      connection.close()
      return roundTrips
    },

    /**
     * Opens many connections; each sends one request after the other.
     *
     * @param {{ connections: number, forMs: number }} options
     * @returns {Promise<number>} Requests per second.
     */
    async rate({ connections, forMs }) {
      const all = await Promise.all(Array.from({ length: connections }, connect))
      const start = performance.now()
      let answered = 0
      await Promise.all(
        all.map(async ({ ask, close }) => {
          while (performance.now() - start < forMs) {
            await ask(nextBody())
            answered++
          }
          close()
        }),
      )
      return (answered / (performance.now() - start)) * 1000
    },

    /**
     * Requests a stream of events.
     *
     * @param {{ events: number, everyMs: number }} params
     * @returns {Promise<number[]>} The delay of each event from the server to here, in microseconds.
     */
    async eventDelays(params) {
      const headers = {
        Host: url.host,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'Mcp-Session-Id': session, 'MCP-Protocol-Version': VERSION }),
      }
      const onward = send(peer, { method: 'POST', path: target, headers, agent: false, timeout: STALL_MS })
      onward.on('timeout', () => onward.destroy(new Error(`no event for ${STALL_MS} ms`)))
      onward.end(JSON.stringify({ jsonrpc: '2.0', id: counts.in++, method: 'bench/stream', params }))
      const [answer] = /** @type {[import('node:http').IncomingMessage]} */ (await once(onward, 'response'))
      /** @type {number[]} */
      const delays = []
      let open = ''
      answer.on('data', (/** @type {Buffer} */ chunk) => {
        const cameAt = performance.timeOrigin + performance.now()
        const events = (open + chunk.toString('latin1')).split('\n\n')
        open = events.pop() ?? ''
        for (const event of events) {
          // An event without data only makes a stream resumable.
          if (event.includes('\ndata: {'))
            delays.push((cameAt - Number(/"sentAt":([\d.]+)/.exec(event)?.[1])) * 1000)
        }
      })
      await once(answer, 'end')
      counts.out += delays.length
      if (delays.length !== params.events || delays.some(Number.isNaN))
        throw new Error(`${delays.length} events came, not ${params.events}`)
      return delays
    },
  }
}

/**
 * End of the response in `received`; undefined while it is incomplete. Supports responses with a content length, and
 * chunked event streams.
 *
 * @param {Buffer} received
 * @param {string} head
 * @param {number} bodyAt
 */
function endOf(received, head, bodyAt) {
  const length = /^HTTP\/1\.1 200 .*\r\ncontent-length: (\d+)\r\n/is.exec(head)?.[1]
  if (length !== undefined) return bodyAt + Number(length)
  if (!/^HTTP\/1\.1 200 .*\r\ntransfer-encoding: chunked\r\n/is.test(head)) return undefined
  const last = received.indexOf(LAST_CHUNK, bodyAt)
  return last === -1 ? Infinity : last + LAST_CHUNK.length
}

/**
 * Begins a session, for servers that require one.
 *
 * @param {string} address
 * @returns {Promise<string>} The session id.
 */
export async function beginSession(address) {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  }
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  const session = answer.headers.get('mcp-session-id')
  if (!answer.ok || session === null) throw new Error(`no session: ${answer.status} ${await answer.text()}`)
  await answer.text()
  return session
}
