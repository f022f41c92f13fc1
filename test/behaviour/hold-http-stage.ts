/** HTTP servers behind a recorder that holds messages. */
import { type HttpStage, useHttpStage } from './http-stage.js'
import { attach } from './attach.js'

export const call = (id: number, text: string): object => ({
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text } },
})

export function useHeldHttp() {
  const stage = useHttpStage()

  const record = (upstream: string, ...options: string[]): ReturnType<HttpStage['recordUrl']> =>
    stage.recordUrl(upstream, options)

  /** A recorder before a server that echoes, and an attached screen. */
  async function recordEcho(as: 'json' | 'events', ...options: string[]) {
    const upstream = await stage.echo(as)
    return { upstream, ...(await record(upstream.url, ...options)), screen: await attach(stage) }
  }

  return { stage, record, recordEcho }
}
