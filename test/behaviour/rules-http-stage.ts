/** HTTP servers behind a recorder with rules. */
import { post as postWhole, type HttpStage, useHttpStage } from './http-stage.js'

export const call = (id: number, argumentsText: string): string =>
  `{"jsonrpc":"2.0", "id":${id},"method":"tools/call","params":{"name":"echo","arguments":${argumentsText}}}`

export const post = async (url: string, body: string): Promise<string> => (await postWhole(url, body)).text

export function useRulesOverHttp() {
  const stage = useHttpStage()

  const record = (upstream: string, rules: string): ReturnType<HttpStage['recordUrl']> =>
    stage.recordUrl(upstream, [], rules)

  /** A recorder with rules, before a server that echoes. */
  async function recordEcho(as: 'json' | 'events', rules: string) {
    const upstream = await stage.echo(as)
    return { upstream, ...(await record(upstream.url, rules)) }
  }

  return { stage, record, recordEcho }
}
