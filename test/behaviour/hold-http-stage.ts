/** HTTP servers behind a recorder that holds messages. */
import { type HttpStage, useHttpStage } from './http-stage.js'

export const call = (id: number, text: string): object => ({
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text } },
})

export function useHeldHttp() {
  const stage = useHttpStage()

  const record = (upstream: string, ...options: string[]): ReturnType<HttpStage['recordUrl']> =>
    stage.recordUrl(upstream, options)

  return { stage, record }
}
