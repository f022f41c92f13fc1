import { findJsonValue, isFault, JsonObject, kindAt, partsOf } from '../../wire/index.js'

/** Methods that only MCP has. Others (`ping`, `tasks/get`) other protocols over JSON-RPC have too. */
const methods =
  /^(initialize|server\/discover|(tools|resources|prompts|roots|notifications|subscriptions|elicitation)\/.+|completion\/complete|logging\/setLevel|sampling\/createMessage)$/

/** What a body shows of JSON-RPC. */
export type RpcSign =
  /** Only MCP speaks so. */
  | 'mcp'
  /** JSON-RPC, of MCP or of another protocol. */
  | 'json-rpc'
  | undefined

/** @param text a whole body */
export function rpcSignOf(text: string): RpcSign {
  const span = findJsonValue(text)
  if (isFault(span)) return undefined
  const raw = text.slice(span.start, span.end)
  let sign: RpcSign
  for (const { start } of partsOf(raw).parts) {
    if (kindAt(raw, start) !== 'object') return undefined
    const message = new JsonObject(raw, start)
    if (message.string('jsonrpc') === undefined) return undefined
    if (methods.test(message.string('method') ?? '')) return 'mcp'
    sign = 'json-rpc'
  }
  return sign
}

/** The same of the beginning of a long body: by what may stand in a payload as well, so it is never certain. */
export function rpcSignOfStart(text: string): RpcSign {
  if (!/^\s*[{[]/.test(text)) return undefined
  const method = /"method"\s*:\s*"([^"\\]{1,80})"/.exec(text)?.[1]
  return method !== undefined && methods.test(method) ? 'mcp' : undefined
}
