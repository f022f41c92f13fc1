import { decodeString, JsonObject } from '../../wire/index.js'

/**
 * One element of an MCP Inspector export, or of a list of messages. Files have no mark of their kind; their elements
 * show it.
 */
export type InspectorElement =
  | { readonly kind: 'protocol'; readonly entry: ProtocolEntry }
  | { readonly kind: 'network'; readonly entry: NetworkEntry }
  | { readonly kind: 'log'; readonly time: string | undefined; readonly params: string }
  | { readonly kind: 'console'; readonly time: string | undefined; readonly text: string }
  /** A JSON-RPC message itself, or an unknown element. */
  | { readonly kind: 'message'; readonly text: string }

/** A message, and for a request its response. */
export interface ProtocolEntry {
  readonly time: string | undefined
  /** Kind of the message, as the Inspector names it. */
  readonly direction: string
  readonly origin: string | undefined
  readonly message: string
  readonly response: string | undefined
  readonly durationMs: number
  /** The reason why the client rejected the response, or could not send the message. */
  readonly clientError: string | undefined
}

/** One HTTP exchange of the Inspector. */
export interface NetworkEntry {
  readonly time: string | undefined
  readonly method: string
  readonly url: string
  readonly requestHeaders: readonly (readonly [string, string])[]
  readonly requestBody: string | undefined
  readonly status: number | undefined
  readonly responseHeaders: readonly (readonly [string, string])[]
  readonly responseBody: string | undefined
  /** Milliseconds until the headers of the response. */
  readonly durationMs: number
  readonly error: string | undefined
  /** `auth` or `transport`. */
  readonly category: string | undefined
}

/** @param text checked JSON of an object */
export function elementOf(text: string): InspectorElement {
  const object = new JsonObject(text, 0)
  const message = object.raw('message')
  const direction = object.string('direction')
  const time = object.string('timestamp')
  if (direction !== undefined && message?.startsWith('{')) {
    const response = object.raw('response')
    const durationMs = object.number('duration') ?? 0
    const origin = object.string('origin')
    const hasResponse = response !== undefined && response.startsWith('{')
    const entry = {
      time,
      direction,
      origin,
      message,
      response: hasResponse ? response : undefined,
      durationMs,
      clientError: object.string('clientError') ?? object.string('error'),
    }
    return { kind: 'protocol', entry }
  }
  const method = object.string('method')
  const url = object.string('url')
  if (method !== undefined && url !== undefined && !object.has('jsonrpc')) {
    return { kind: 'network', entry: networkEntry(object, method, url) }
  }
  const params = object.raw('params')
  if (object.string('receivedAt') !== undefined && params?.startsWith('{')) {
    return { kind: 'log', time: object.string('receivedAt'), params }
  }
  if (time !== undefined && message?.startsWith('"') && method === undefined) {
    return { kind: 'console', time, text: decodeString(message, 0, message.length) }
  }
  return { kind: 'message', text }
}

function networkEntry(object: JsonObject, method: string, url: string): NetworkEntry {
  return {
    time: object.string('timestamp'),
    method,
    url,
    requestHeaders: headersOf(object.object('requestHeaders')),
    requestBody: object.string('requestBody'),
    status: object.number('responseStatus'),
    responseHeaders: headersOf(object.object('responseHeaders')),
    responseBody: object.string('responseBody'),
    durationMs: object.number('duration') ?? 0,
    error: object.string('error'),
    category: object.string('category'),
  }
}

function headersOf(headers: JsonObject | undefined): (readonly [string, string])[] {
  if (!headers) return []
  return headers.others().flatMap(([name, text]) => {
    const value = text.startsWith('"') ? headers.string(name) : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
}

/** The message from which an element of the `logs` file was made, as far as available. */
export function logMessage(params: string): string {
  return `{"jsonrpc":"2.0","method":"notifications/message","params":${params}}`
}
