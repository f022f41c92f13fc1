import { JsonObject, jsonObjectIn } from '../wire/index.js'

/** Whether it is a JSON-RPC error, or a tool result with `isError`. */
export function isFailure(text: string): boolean {
  if (text.startsWith('{') && !mayFail(text)) return false
  const start = startOf(text)
  if (start === undefined) return true
  const message = new JsonObject(text, start)
  return message.has('error') || message.object('result')?.raw('isError') === 'true'
}

/** False for most responses, without parsing their members. */
function mayFail(text: string): boolean {
  // Member names can contain escapes.
  return text.includes('"error"') || text.includes('"isError"') || text.includes(String.raw`\u`)
}

/** Where the JSON object of a response begins; undefined if it is none. */
export function startOf(text: string): number | undefined {
  return jsonObjectIn(text)?.start
}

/** Code and message of an error, or text of a failed tool call, for people; undefined for a result. */
export function failureOf(text: string): string | undefined {
  if (!mayFail(text)) return undefined
  const start = startOf(text)
  if (start === undefined) return undefined
  const message = new JsonObject(text, start)
  const error = message.object('error')
  if (error) return `error ${error.raw('code') ?? '?'}: ${error.string('message') ?? ''}`
  const result = message.object('result')
  if (result?.raw('isError') !== 'true') return undefined
  const first = result.objects('content', 1)[0]?.string('text')
  return first === undefined ? 'isError' : `isError: ${first}`
}
