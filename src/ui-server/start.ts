import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WiretapeError } from '../model/index.js'
import type { Catalogue } from './catalogue.js'
import { raiseBarrier, type Access } from '../transports/index.js'
import { createActing } from './acting.js'
import { createGuard } from './guard.js'
import { loadPages } from './pages.js'
import { refuse } from './replies.js'
import { answer, type Stage } from './routes.js'
import { createSaved } from './saved.js'
import { Sessions } from './sessions.js'

export interface UiServer {
  /** Contains no secret; works for a page that was opened before. */
  readonly url: string
  readonly port: number
  /**
   * A new one-time address of the page. Its last part is a code that the page exchanges for the token of this run.
   *
   * @param used called when the code is used
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
  /** 0 for any free port. */
  readonly port: number
  /** @default refuses other users of this machine, if the system can identify them */
  readonly access?: Access
}

/**
 * Serves the viewer and the listed recordings on 127.0.0.1. Requests only read, except those that act on a live
 * capture (`acting.ts`). The page needs no token; recordings do. The token is sent in a header, never in a URL or
 * cookie.
 */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const { catalogue, viewer, acting, port, access } = options
  const pages = await loadPages(viewer, acting).catch((cause: unknown) => {
    throw new WiretapeError('unreadable', `the viewer is missing in ${viewer}`, {
      hint: 'build it with npm run build',
      cause,
    })
  })
  const token = randomBytes(24).toString('base64url')
  const server = createServer()
  await listen(server, port)
  const address = server.address() as AddressInfo
  const guard = createGuard(address.port)
  // Browsers of other systems connect through processes without an owner; the token protects against them.
  const barrier = raiseBarrier(server, '127.0.0.1', address.port, { ...access, admitsUnknown: true })
  const codes = new Map<string, () => void>()
  const sessions = new Sessions(catalogue)
  const stage: Stage = {
    pages,
    catalogue,
    guard,
    token,
    codes,
    acting: createActing(catalogue.rulesFolder),
    sessions,
    saved: createSaved(catalogue),
  }
  server.on('request', (request, response) => {
    if (barrier.admit(request, response) === undefined) return
    answer(request, response, stage).catch((error: unknown) => {
      // The browser disconnected or the file was deleted.
      if (response.headersSent) response.destroy()
      else if (isGone(error)) refuse(response, 404, 'the file no longer exists')
      else refuse(response, 500, 'the file could not be read')
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
        server.close(() => resolve(sessions.close()))
        server.closeAllConnections()
      })),
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message
      reject(
        new WiretapeError('usage', `cannot listen on port ${port}: ${why}`, {
          hint: 'choose another --port',
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
