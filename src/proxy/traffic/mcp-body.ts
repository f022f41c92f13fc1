import { jsonIn, JsonObject, kindAt, partsOf } from '../../wire/index.js'

/** Methods that exist only in MCP. Others (`ping`, `tasks/get`) exist in other JSON-RPC protocols too. */
const methods =
  /^(initialize|server\/discover|(tools|resources|prompts|roots|notifications|subscriptions|elicitation)\/.+|completion\/complete|logging\/setLevel|sampling\/createMessage)$/

/** The protocol that a body indicates. */
export type RpcSign =
  /** Certainly MCP. */
  | 'mcp'
  /** JSON-RPC, of MCP or of another protocol. */
  | 'json-rpc'
  | undefined

/** @param text a whole body */
export function rpcSignOf(text: string): RpcSign {
  const span = jsonIn(text)
  if (!span) return undefined
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

/** The same for the beginning of a long body. Never certain, because a payload may contain the same text. */
export function rpcSignOfStart(text: string): RpcSign {
  if (!/^\s*[{[]/.test(text)) return undefined
  const method = /"method"\s*:\s*"([^"\\]{1,80})"/.exec(text)?.[1]
  return method !== undefined && methods.test(method) ? 'mcp' : undefined
}
