// @ts-check
/** One of many clients. All of them use the same ids. */
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

export const ways = /** @type {const} */ (['json', 'stream', 'later'])
/** Concurrent calls of one client. */
const atOnce = 3

/**
 * Makes its calls; throws when a response belongs to another call.
 *
 * @param {string} url
 * @param {number} number Number of the client.
 * @param {number} calls
 */
export async function runClient(url, number, calls) {
  const way = ways[number % ways.length] ?? 'json'
  const agent = new Agent({ keepAlive: true })
  /** @type {Map<number, (said: string) => void>} */
  const due = new Map()
  /** @type {string | undefined} */
  let session
  /** @type {import('node:http').ClientRequest | undefined} */
  let listening

  /** @param {'GET' | 'POST'} method @param {object} [message] */
  async function send(method, message) {
    const sent = request(url, {
      agent,
      method,
      headers: {
        Accept: 'application/json, text/event-stream',
        ...(message && { 'Content-Type': 'application/json' }),
        ...(session !== undefined && { 'Mcp-Session-Id': session }),
      },
    })
    sent.end(message && JSON.stringify(message))
    /** @type {import('node:http').IncomingMessage} */
    const answer = await new Promise((done, fail) => sent.once('response', done).once('error', fail))
    return { sent, answer }
  }

  /** @param {string} said What came, as JSON or as events. */
  function takeAll(said) {
    for (const line of said.split('\n')) {
      const json = line.startsWith('data:') ? line.slice(5) : line.startsWith('{') ? line : ''
      if (json === '') continue
      const { id, result } = JSON.parse(json)
      if (result?.content) due.get(id)?.(result.content[0].text)
    }
  }

  /** @param {number} n */
  async function call(n) {
    // A client without a session tells its responses apart by their connection.
    const id = way === 'json' ? 1 : n
    const words = `client ${number}, call ${n}`
    const params = { name: 'echo', arguments: { text: words, way }, _meta: { progressToken: n } }
    /** @type {Promise<string>} */
    const said = new Promise((done) => {
      if (way !== 'json') due.set(n, done)
    })
    const { answer } = await send('POST', { jsonrpc: '2.0', id, method: 'tools/call', params })
    const body = await text(answer)
    if (way === 'json') {
      const got = JSON.parse(body).result.content[0].text
      if (got !== words) throw new Error(`${words}: got the answer to ${got}`)
      return
    }
    takeAll(body)
    const got = await said
    if (got !== words) throw new Error(`${words}: got the answer to ${got}`)
    due.delete(n)
  }

  const params = { way, clientInfo: { name: `client ${number}`, version: '1' } }
  const { answer } = await send('POST', { jsonrpc: '2.0', id: 0, method: 'initialize', params })
  await text(answer)
  session = answer.headers['mcp-session-id']?.toString()
  if (way === 'later') {
    const stream = await send('GET')
    listening = stream.sent
    let open = ''
    stream.answer.on('error', () => undefined)
    stream.answer.setEncoding('utf8').on('data', (chunk) => {
      const lines = (open + chunk).split('\n')
      open = lines.pop() ?? ''
      for (const line of lines) takeAll(line)
    })
  }
  const waiting = Array.from({ length: calls }, (_, n) => n + 1)
  const one = async () => {
    for (let n = waiting.shift(); n !== undefined; n = waiting.shift()) await call(n)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  listening?.destroy()
  agent.destroy()
}
