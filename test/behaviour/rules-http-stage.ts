/** HTTP servers behind a recorder with rules. */
import { post as postWhole, type HttpStage, useHttpStage } from './http-stage.js'

export const call = (id: number, argumentsText: string): string =>
  `{"jsonrpc":"2.0", "id":${id},"method":"tools/call","params":{"name":"echo","arguments":${argumentsText}}}`

export const post = async (url: string, body: string): Promise<string> => (await postWhole(url, body)).text

export function useRulesOverHttp() {
  const stage = useHttpStage()

  const record = (upstream: string, rules: string): ReturnType<HttpStage['recordUrl']> =>
    stage.recordUrl(upstream, [], rules)

  return { stage, record }
}
