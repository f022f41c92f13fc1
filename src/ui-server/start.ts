import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WiretapeError } from '../model/index.js'
import type { Catalogue } from './catalogue.js'
import { raiseBarrier, type Access } from '../transports/index.js'
import { createActing, whyNoAct, type Acting } from './acting.js'
import { commandPath, createGuard, deletePath, credentialOf, isSame } from './guard.js'
import { contentPolicy, loadPages, type Page } from './pages.js'
import { sendFile } from './send-file.js'

export interface UiServer {
  /** Without a secret: a page that has been opened once shows itself again by it. */
  readonly url: string
  readonly port: number
  /**
   * A new address that opens the page once. Its last part is a code that the page gives for the token of this run.
   *
   * @param used called when the code was given
   */
  newAddress(used?: () => void): string
  /** May be called twice. */
  close(): Promise<void>
}

export interface UiServerOptions {
  readonly catalogue: Catalogue
  /** Folder of the built viewer. */
  readonly viewer: string
  /** Path of the script that acts on live captures. @default the page only reads */
  readonly acting?: string
  /** 0 for any that is free. */
  readonly port: number
  /** @default no other user of this machine, where the system tells them */
  readonly access?: Access
}

/**
 * Serves the viewer and the listed recordings on 127.0.0.1. Requests only read, but those that act on a live capture
 * (`acting.ts`). The page itself is for everybody who is let in; recordings need the token, which travels in a header
 * and stands in no address and no cookie.
 */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const { catalogue, viewer, acting, port, access } = options
  const pages = await loadPages(viewer, acting).catch((cause: unknown) => {
    throw new WiretapeError('unreadable', `the viewer is not in ${viewer}`, {
      hint: 'npm run build makes it',
      cause,
    })
  })
  const token = randomBytes(24).toString('base64url')
  const server = createServer()
  await listen(server, port)
  const address = server.address() as AddressInfo
  const guard = createGuard(address.port)
  // Browsers of other systems reach us through programs that no user owns: the token decides about them.
  const barrier = raiseBarrier(server, '127.0.0.1', address.port, { ...access, admitsUnknown: true })
  const codes = new Map<string, () => void>()
  const stage: Stage = { pages, catalogue, guard, token, codes, acting: createActing() }
  server.on('request', (request, response) => {
    if (barrier.admit(request, response) === undefined) return
    answer(request, response, stage).catch((error: unknown) => {
      // A browser that went away meanwhile, or a file that did.
      if (response.headersSent) response.destroy()
      else if (isGone(error)) refuse(response, 404, 'the file is not there any more')
      else refuse(response, 500, 'it could not be read')
    })
  })
  let closing: Promise<void> | undefined
  return {
    url: `http://127.0.0.1:${address.port}/`,
    port: address.port,
    newAddress(used = () => undefined) {
      const code = randomBytes(16).toString('base64url')
      codes.set(code, used)
      return `http://127.0.0.1:${address.port}/#once=${code}`
    },
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
  /** Those that were not given yet, and what to do then. */
  readonly codes: Map<string, () => void>
  readonly acting: Acting
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
  if (page) return send(response, page.type, page.body)
  if (pathname === '/api/token') return giveToken(request, response, stage)
  if (!isSame(credentialOf(request, 'Bearer'), stage.token))
    return refuse(response, 403, 'the token is missing or wrong: open the address that wiretape printed')
  const { catalogue } = stage
  if (pathname === '/api/recordings') return sendJson(response, await catalogue.recordings())
  if (pathname === '/api/given') return sendJson(response, await catalogue.given())
  const deleted = deletePath.exec(pathname)
  if (deleted) return remove(request, response, catalogue, deleted[1]!)
  if (pathname === '/api/search') return search(request, response, catalogue)
  const live = /^\/api\/recordings\/([\w-]{1,64})\/control$/.exec(pathname)
  const channel = commandPath.exec(pathname)
  if (live || channel) return act(request, response, stage, live?.[1], channel?.[1])
  const file = /^\/api\/recordings\/([\w-]{1,64})\/(\d{1,6})$/.exec(pathname)
  const path = file ? await catalogue.pathOf(file[1]!, Number(file[2])) : undefined
  if (path === undefined) refuse(response, 404, 'there is nothing of that name')
  else await sendFile(path, response, catalogue)
}

/** Attaches the page to the capture of a recording, or carries out a command of a page that is attached. */
async function act(
  request: IncomingMessage,
  response: ServerResponse,
  { acting, catalogue }: Stage,
  recording = '',
  channel?: string,
): Promise<void> {
  const denial = whyNoAct(request)
  if (denial) return refuse(response, denial.status, denial.why)
  if (request.method === 'POST' && channel !== undefined) return acting.command(channel, request, response)
  if (request.method !== 'GET' || channel !== undefined)
    return refuse(response, 405, 'commands are sent with POST')
  const connection = await catalogue.control?.(recording)
  if (connection) await acting.open(connection, response)
  else refuse(response, 404, 'no capture writes this recording now')
}

async function remove(
  request: IncomingMessage,
  response: ServerResponse,
  catalogue: Catalogue,
  id: string,
): Promise<void> {
  const denial = whyNoAct(request)
  if (denial) return refuse(response, denial.status, denial.why)
  if (request.method !== 'POST' || !catalogue.remove)
    return refuse(response, 405, 'deleting is asked for with POST')
  try {
    await catalogue.remove(id)
    sendJson(response, {})
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    refuse(response, 409, error.message)
  }
}

async function search(
  request: IncomingMessage,
  response: ServerResponse,
  catalogue: Catalogue,
): Promise<void> {
  const text = new URL(request.url ?? '/', 'http://localhost').searchParams.get('q') ?? ''
  try {
    sendJson(
      response,
      (await catalogue.search?.(text.slice(0, longestFilter))) ?? { matches: [], isCut: false },
    )
  } catch (error) {
    if (!(error instanceof WiretapeError)) throw error
    refuse(response, 400, error.hint === undefined ? error.message : `${error.message} (${error.hint})`)
  }
}

/** Characters of a filter. */
const longestFilter = 4_000

/** A code is worth the token once. */
function giveToken(request: IncomingMessage, response: ServerResponse, { codes, token }: Stage): void {
  const given = credentialOf(request, 'Once')
  const code = [...codes.keys()].find((known) => isSame(given, known))
  if (code === undefined || request.method !== 'GET')
    return refuse(response, 403, 'this address was used already: wiretape prints another one')
  const used = codes.get(code)!
  codes.delete(code)
  sendJson(response, { token })
  used()
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
