import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WiretapeError } from '../model/index.js'
import type { Catalogue } from './catalogue.js'
import { cookieName, createGuard } from './guard.js'
import { contentPolicy, loadPages, type Page } from './pages.js'
import { sendFile } from './send-file.js'

export interface UiServer {
  /** With the token; whoever has it may look at the recordings. */
  readonly url: string
  readonly port: number
  /** May be called twice. */
  close(): Promise<void>
}

export interface UiServerOptions {
  readonly catalogue: Catalogue
  /** Folder of the built viewer. */
  readonly viewer: string
  /** 0 for any that is free. */
  readonly port: number
}

/**
 * Serves the viewer and the listed recordings on 127.0.0.1. It reads only: nothing is started, changed or sent on
 * by any request.
 */
export async function startUiServer({ catalogue, viewer, port }: UiServerOptions): Promise<UiServer> {
  const pages = await loadPages(viewer).catch((cause: unknown) => {
    throw new WiretapeError('unreadable', `the viewer is not in ${viewer}`, {
      hint: 'npm run build makes it',
      cause,
    })
  })
  const token = randomBytes(24).toString('base64url')
  const server = createServer()
  await listen(server, port)
  const address = server.address() as AddressInfo
  const guard = createGuard(token, address.port)
  server.on('request', (request, response) => {
    answer(request, response, { pages, catalogue, guard, token, port: address.port }).catch(
      (error: unknown) => {
        // A browser that went away meanwhile, or a file that did.
        if (response.headersSent) response.destroy()
        else if (isGone(error)) refuse(response, 404, 'the file is not there any more')
        else refuse(response, 500, 'it could not be read')
      },
    )
  })
  let closing: Promise<void> | undefined
  return {
    url: `http://127.0.0.1:${address.port}/?token=${token}`,
    port: address.port,
    close: () =>
      (closing ??= new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })),
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'something else listens there' : cause.message
      reject(
        new WiretapeError('usage', `cannot listen on port ${port}: ${why}`, {
          hint: 'name another --port',
          cause,
        }),
      )
    })
    server.listen(port, '127.0.0.1', resolve)
  })
}

function isGone(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT'
}

interface Stage {
  readonly pages: ReadonlyMap<string, Page>
  readonly catalogue: Catalogue
  readonly guard: ReturnType<typeof createGuard>
  readonly token: string
  readonly port: number
}

async function answer(request: IncomingMessage, response: ServerResponse, stage: Stage): Promise<void> {
  setSafeHeaders(response)
  const refusal = stage.guard(request)
  if (refusal) {
    refuse(response, refusal.status, refusal.why)
    return
  }
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const page = stage.pages.get(pathname)
  if (page) {
    if (pathname === '/') {
      const cookie = `${cookieName(stage.port)}=${stage.token}; Path=/; HttpOnly; SameSite=Strict`
      response.setHeader('Set-Cookie', cookie)
    }
    send(response, page.type, page.body)
    return
  }
  const { catalogue } = stage
  if (pathname === '/api/recordings') return sendJson(response, await catalogue.recordings())
  if (pathname === '/api/given') return sendJson(response, await catalogue.given())
  const file = /^\/api\/recordings\/([\w-]{1,64})\/(\d{1,6})$/.exec(pathname)
  const path = file ? await catalogue.pathOf(file[1]!, Number(file[2])) : undefined
  if (path === undefined) refuse(response, 404, 'there is nothing of that name')
  else await sendFile(path, response, catalogue)
}

function setSafeHeaders(response: ServerResponse): void {
  response.setHeader('Content-Security-Policy', contentPolicy)
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('X-Frame-Options', 'DENY')
  response.setHeader('Referrer-Policy', 'no-referrer')
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin')
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin')
  response.setHeader('Cache-Control', 'no-store')
}

function send(response: ServerResponse, type: string, body: string): void {
  response.setHeader('Content-Type', type)
  response.writeHead(200)
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

function sendJson(response: ServerResponse, value: unknown): void {
  send(response, 'application/json; charset=utf-8', JSON.stringify(value))
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.writeHead(status)
  response.end(`${why}\n`)
}
