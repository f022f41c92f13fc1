/** For tests of the HTTP gate: a minimal server, the recorder in front of it, and a client that posts. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { anewForEach, cli, createStage, printed, type Actor, type Stage } from './stage.js'
import { linesOfTape, type Line } from './tape-bytes.js'

/** A request of 2026-07-28 says all this. */
export const modern = {
  version: '2026-07-28',
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  },
}

export interface Echo {
  readonly url: string
  readonly bodies: string[]
  readonly headers: Line[]
}

export interface HttpStage extends Stage {
  /** Listens on a free port and returns the URL of its endpoint. */
  serve(listener: RequestListener): Promise<string>
  /**
   * Responds to every request with the request itself, as JSON or as events after a notification; to a batch with a
   * batch.
   */
  echo(as: 'json' | 'events'): Promise<Echo>
  /** Starts the recorder; `url` is for clients. @param rules of a rules file */
  recordUrl(
    upstream: string,
    options?: readonly string[],
    rules?: string,
  ): Promise<{ recorder: Actor; url: string }>
  /** Ends the recorder and returns the lines of its tape. */
  end(recorder: Actor): Promise<Line[]>
}

export function useHttpStage(): HttpStage {
  return anewForEach(createHttpStage)
}

export function createHttpStage(): HttpStage {
  const stage = createStage()
  const servers: Server[] = []

  async function serve(listener: RequestListener): Promise<string> {
    const one = createServer(listener).listen(0, '127.0.0.1')
    servers.push(one)
    await new Promise((done) => one.once('listening', done))
    return `http://127.0.0.1:${(one.address() as AddressInfo).port}/mcp`
  }

  return {
    ...stage,
    serve,
    async echo(as) {
      const bodies: string[] = []
      const headers: Line[] = []
      const url = await serve((request, response) => {
        let body = ''
        request.on('data', (chunk) => (body += String(chunk)))
        request.on('end', () => {
          bodies.push(body)
          headers.push(request.headers)
          const came = JSON.parse(body || '{}') as Line | Line[]
          const texts = [came].flat().flatMap((message) => answerTo(message) ?? [])
          if (texts.length === 0) return response.writeHead(202).end()
          if (as === 'json') {
            const text = Array.isArray(came) ? `[${texts.join(',')}]` : texts[0]!
            return response.writeHead(200, { 'content-type': 'application/json' }).end(text)
          }
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write(`id: 1\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n`)
          for (const text of texts) response.write(`id: 2\nevent: message\ndata: ${text}\n\n`)
          return response.end()
        })
      })
      return { url, bodies, headers }
    },
    async recordUrl(upstream, options = [], rules) {
      if (rules !== undefined) writeFileSync(stage.path('rules.yaml'), rules)
      const ruled = rules === undefined ? [] : ['--rules', 'rules.yaml']
      const argv = [cli, 'record', '--url', upstream, '--out', stage.out, ...ruled, ...options]
      const recorder = stage.start([process.execPath, ...argv], { detached: true })
      await printed(recorder, '\n')
      return { recorder, url: recorder.stdout().toString().trim() }
    },
    async end(recorder) {
      recorder.child.kill('SIGTERM')
      expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
      return linesOfTape(stage.tape())
    },
    async close() {
      for (const one of servers.splice(0)) {
        one.closeAllConnections()
        await new Promise((done) => one.close(done))
      }
      await stage.close()
    },
  }
}

function answerTo({ id, method, params = null }: Line): string | undefined {
  if (id === undefined || method === undefined) return undefined
  return JSON.stringify({ jsonrpc: '2.0', id, result: { asked: params as unknown } })
}

export interface Got {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** Posts a message. @param body a string is sent as it is; an object gets `jsonrpc` */
export async function post(
  url: string,
  body: string | object,
  headers: Record<string, string> = {},
): Promise<Got> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify({ jsonrpc: '2.0', ...body }),
  })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: await response.text(),
  }
}

export const isMessage = (line: Line): boolean => line['type'] === undefined

export interface OpenStream {
  /** Text received so far. */
  readonly came: () => string
  readonly close: () => Promise<void>
}

/** Reads an event stream as text. */
export async function openStream(url: string): Promise<OpenStream> {
  const stream = await fetch(url, { headers: { accept: 'text/event-stream' } })
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  void (async () => {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += value
    }
  })().catch(() => undefined)
  return { came: () => text, close: () => reader.cancel() }
}
