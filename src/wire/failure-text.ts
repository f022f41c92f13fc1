/**
 * An error response of our own, in place of a missing one. The code is an HTTP status where there is one, and so
 * outside of the ranges that JSON-RPC and MCP reserve.
 *
 * @param id exact text of the request's id
 */
export function failureText(id: string, code: number, why: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message: `wiretape: ${why}` })}}`
}
