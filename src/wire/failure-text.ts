/**
 * An answer of ours, where no other comes. The code is outside of the range that JSON-RPC and MCP keep for themselves:
 * the HTTP status, where there is one.
 *
 * @param id exact text of that of the request
 */
export function failureText(id: string, code: number, why: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message: `wiretape: ${why}` })}}`
}
