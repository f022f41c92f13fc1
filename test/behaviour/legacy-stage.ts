/** Servers and clients of HTTP+SSE (2024-11-05). */
import { openStream, post, useHttpStage } from './http-stage.js'
import { until } from './stage.js'
import type { Line } from './tape-bytes.js'

export const sessions = ['9b1f0a52-6f0e-4c51-9d0e-2f40b9a1c1de', '0c7d33aa-1d62-4bb0-8f6c-93f0a0aa71b4']

/** Endpoints that contain the session. */
export const endpoints: readonly [where: string, (session: string) => string][] = [
  ['in the path', (session) => `/messages/${session}`],
  ['in a path that is relative', (session) => `../post/${session}/in`],
  ['in a parameter of any name', (session) => `/messages?transport=sse&s=${session}`],
]

interface LegacyClient {
  readonly came: () => string
  readonly send: (message: object) => Promise<unknown>
  readonly close: () => Promise<void>
}

export async function connect(url: string): Promise<LegacyClient> {
  const { came, close } = await openStream(url)
  const endpoint = await until('it says where to POST', () => /^data: (\S+)$/m.exec(came())?.[1])
  const to = new URL(endpoint, url).href
  // With keep-alive, both clients would share a connection.
  const send = (message: object): Promise<unknown> => post(to, message, { connection: 'close' })

  return { came, send, close }
}

export const ping = (id: number, who: string): Line => ({ id, method: 'ping', params: { who } })

export function useLegacyServers() {
  const stage = useHttpStage()

  /** A server of 2024-11-05 that gives each stream its own endpoint; responses come on the stream. */
  function serveStreams(endpoint: (session: string) => string): Promise<string> {
    const streams = new Map<string, (text: string) => void>()
    let count = 0
    return stage.serve((request, response) => {
      if (request.method === 'GET') {
        const named = endpoint(sessions[count++]!)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`event: endpoint\ndata: ${named}\n\n`)
        const say = (text: string): void => void response.write(`event: message\ndata: ${text}\n\n`)
        streams.set(
          new URL(named, 'http://x/deep/mcp').pathname + new URL(named, 'http://x/deep/mcp').search,
          say,
        )
        return
      }
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        response.writeHead(202).end('Accepted')
        const { id, params } = JSON.parse(body) as Line
        streams.get(request.url!)?.(JSON.stringify({ jsonrpc: '2.0', id, result: { asked: params as Line } }))
      })
    })
  }

  return { stage, serveStreams }
}
