/** What one peer sends as one line or one body, with what a link has to know about it. */
export interface ClientFrame {
  /** Exact text: one message, or a batch. */
  readonly text: string
  /** Of a single request: exact text of its id. Without it any answer in its own response is taken for its own. */
  readonly id?: string
  /** Of a single message. */
  readonly method?: string
  /** Tool or prompt name, resource URI. */
  readonly name?: string
  /** Protocol version in `_meta`, which the modern era (2026-07-28) has in every request. */
  readonly protocolVersion?: string
  /** Requests in it: as many answers are waited for. */
  readonly requests: number
  /** Headers of its own, such as `Mcp-Param-*`. @default what tools of this connection asked for */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** One end of a conversation. */
export interface Link {
  /** Resolves when the peer has taken it, as far as that can be known; whether it failed is told by an event. */
  send(frame: ClientFrame): Promise<void>
  /** Stops reading what the peer says, or goes on. */
  hold(wait: boolean): void
  /** Ends the conversation and lets go of everything. Can be called twice. */
  close(): Promise<void>
}

/** A client's end of a connection to a server. */
export type ClientConnection = Link

/** A client's end of a connection to an HTTP server. */
export interface HttpLink extends Link {
  /** Leaves the response of a request, which is how the modern era cancels; nothing more is told of the request. */
  leave(frame: ClientFrame): void
}

/** A message of a server on its way to a client. */
export interface ServerMessage {
  /** Exact JSON text; of noise, a line. */
  readonly text: string
  /** The response to the request whose stream this is; the last message of it. */
  readonly final?: boolean
  /** HTTP status; without it that of the specification. */
  readonly status?: number
  /** It is an event of a stream, even alone. */
  readonly streamed?: boolean
  /** A line that is no message: only stdio carries it. */
  readonly noise?: boolean
}

/** A server's end of a connection to a client, or of one request of that client. */
export interface ServerLink {
  /** Resolves when the next may be sent; at once when nobody reads any more. */
  send(message: ServerMessage): Promise<void>
  /** False while nobody listens; messages wait then. */
  readonly isOpen: boolean
  /** Answers as HTTP does that carries no JSON-RPC; false after anything was sent. Absent where there is no HTTP. */
  readonly refuse?: (refusal: { readonly status: number; readonly text: string }) => boolean
  /** The response comes in one piece, as far as is known: no stream is opened before it has come. */
  readonly inOnePiece?: () => void
  /** Closes the connection, as a server does that breaks down. */
  readonly cut?: () => void
}

/** Why a frame got no answer, or was refused. */
export interface LinkFailure {
  /**
   * `refused`: by an HTTP status; `broken`: no response, or a part of one; `lost`: a stream that could not be taken up
   * again; `unanswered`: a response without an answer.
   */
  readonly kind: 'refused' | 'broken' | 'lost' | 'unanswered'
  /** HTTP status, where there was a response. */
  readonly status?: number
  /** Of a refusal. */
  readonly body?: string
  /** Where a redirect leads that is not followed. */
  readonly location?: string
  /** Nobody was there any more to take it. */
  readonly isUnsent?: boolean
}

/** What comes from the server. All of it may come at any time, also while something is sent. */
export interface ClientEvents {
  /**
   * One message or batch, as text; it may be no JSON at all.
   *
   * @param via the frame whose own response brought it, where the link knows
   * @param isLossy its bytes were no UTF-8; U+FFFD stands for what is broken
   */
  message(text: string, via: ClientFrame | undefined, isLossy?: boolean): void
  /** No answer will come for this frame, or it was refused. @param reason in words */
  failed(frame: ClientFrame, reason: string, failure: LinkFailure): void
  /** The server is gone; nothing more comes. */
  ended(reason: string): void
}
