/** The side that sent the message, and its receiver. */
export type Direction = 'client_to_server' | 'server_to_client'

/** The wire between client and server. */
export type Transport = 'stdio' | 'sse' | 'streamable-http'

/**
 * JSON-RPC 2.0 type of a JSON value.
 *
 * `result` and `error` are the two kinds of response. `invalid` is JSON that no JSON-RPC reader accepts: it
 * was on the wire, so it is kept, but nothing is concluded from it.
 */
export type MessageKind = 'request' | 'notification' | 'result' | 'error' | 'invalid'

/**
 * The JSON-RPC reading of one frame: the parts that correlation and lists need, never the payload.
 *
 * Ids and progress tokens are exact JSON text (`1`, `"1"`, `12345678901234567890`), because `1` is not `"1"`
 * and a JavaScript number cannot hold every JSON number. Other strings are decoded.
 */
export interface Envelope {
  readonly kind: MessageKind
  /** The reason why the kind is `invalid`, in words for a person. */
  readonly problem?: string
  /** True when `params` is neither object nor null, or a `result` no object: MCP forbids both. */
  readonly odd?: boolean
  /** Exact JSON text of `id`; undefined when the member is absent. */
  readonly id?: string
  readonly method?: string
  /** Subject of a request: the tool, prompt, resource URI, task id or completion reference. */
  readonly subject?: string
  /** Protocol version: requested (`initialize`), negotiated (its result) or in `_meta` (2026-07-28). */
  readonly protocolVersion?: string
  /** True when the version comes from `_meta`, which only the modern era (2026-07-28 and later) uses. */
  readonly modern?: boolean
  /** Self-reported name and version of the sender (`clientInfo`, `serverInfo`). */
  readonly peer?: { readonly name: string; readonly version: string }
  /** Exact text of the token a request offers, or of the one a `notifications/progress` names. */
  readonly progressToken?: string
  /** Exact text of the id that a `notifications/cancelled` names. */
  readonly cancels?: string
  /** Id of the task that this message creates, asks about or belongs to. */
  readonly taskId?: string
  /** True when a result creates the task (2025-11-25 `CreateTaskResult`, 2026 `resultType: "task"`). */
  readonly createsTask?: boolean
  /** Status that a response or a notification reports of the task. */
  readonly taskStatus?: string
  /** True when the message contains the task's result, a tool result with `isError: true` (2026-07-28). */
  readonly taskFailed?: boolean
  /** Exact text of the `subscriptions/listen` id that a notification belongs to (2026-07-28). */
  readonly subscriptionId?: string
  /** `resultType` of a result; absent means `complete`. */
  readonly resultType?: string
  /** Opaque state issued by an `input_required` result and returned by the retry. */
  readonly requestState?: string
  /** Names of the inputs that an `input_required` result asks for. */
  readonly inputRequests?: readonly string[]
  /** Names of the inputs that a retry brings. */
  readonly inputResponses?: readonly string[]
  /** Exact text of `params.arguments`. */
  readonly argumentsText?: string
  /** Method of the server's request that a result of this shape answers: only a client's results have it. */
  readonly answersMethod?: string
  /** A tool result with `isError: true`: the call failed although JSON-RPC carried a result. */
  readonly toolError?: boolean
  /** Exact text of the error code, and its message. */
  readonly errorCode?: string
  readonly errorMessage?: string
}

/** A response: a result or an error. */
export function isAnswer(envelope: Pick<Envelope, 'kind'>): boolean {
  return envelope.kind === 'result' || envelope.kind === 'error'
}

/** An error whose id is null or missing, for example because the server could not read the request's. */
export function isNamelessError({ kind, id }: Pick<Envelope, 'kind' | 'id'>): boolean {
  return kind === 'error' && (id === undefined || id === 'null')
}

export function opposite(direction: Direction): Direction {
  return direction === 'client_to_server' ? 'server_to_client' : 'client_to_server'
}
