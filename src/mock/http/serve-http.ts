import { LegacySseServer } from '../../link/index.js'
import { startLocalServer, type Access } from '../../transports/index.js'
import { reasonOf } from '../fault.js'
import type { Stage } from '../stage.js'
import { Streamable } from './streamable.js'

export interface HttpServeOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly transport?: 'streamable-http' | 'sse' | undefined
  readonly access: Access
}

export interface ServedHttp {
  /** URL for clients. */
  readonly url: string
  /** Ends all conversations and connections. Can be called twice. */
  close(): Promise<void>
}

/** @throws WiretapeError `usage` when it cannot listen on that address */
export async function serveHttp(stage: Stage, options: HttpServeOptions): Promise<ServedHttp> {
  const transport = options.transport ?? (stage.play.transport === 'sse' ? 'sse' : 'streamable-http')
  const path = pathOf(stage.play.transport === transport ? stage.play.url : null, transport)
  const service = transport === 'sse' ? legacySse(stage, path) : new Streamable(stage, path)
  const server = await startLocalServer({
    host: options.host,
    port: options.port,
    access: { onNotice: (line) => stage.notice(line), ...options.access },
    onRequest(request, response, prefix) {
      service.handle(request, response, prefix).catch((error: unknown) => {
        stage.notice(`a request could not be answered: ${reasonOf(error)}`)
        response.destroy()
      })
    },
  })
  let closing: Promise<void> | undefined
  return {
    url: server.origin + server.prefix + path,
    close: () =>
      (closing ??= (async () => {
        await service.close()
        await server.close()
      })()),
  }
}

function legacySse(stage: Stage, path: string): LegacySseServer {
  return new LegacySseServer({
    path,
    open: (client) => stage.open(client, 'sse'),
    onNoJson: () => stage.notice('a client sent a body that is not JSON'),
  })
}

/** The path of the recorded server. Secrets in its URL were replaced, so the query does not matter. */
function pathOf(url: string | null, transport: 'streamable-http' | 'sse'): string {
  if (url !== null && URL.canParse(url)) {
    const { pathname } = new URL(url)
    if (pathname !== '/message') return pathname
  }
  return transport === 'sse' ? '/sse' : '/mcp'
}
