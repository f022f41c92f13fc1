/** One line or one body of a peer, with the metadata that a link needs. */
export interface ClientFrame {
  /** Exact text: one message, or a batch. */
  readonly text: string
  /** For a single request: exact text of its id. Without it, any response in its HTTP response counts as its own. */
  readonly id?: string
  /** Only for a single message. */
  readonly method?: string
  /** Tool or prompt name, resource URI. */
  readonly name?: string
  /** Protocol version in `_meta`, which every request of the modern era (2026-07-28) contains. */
  readonly protocolVersion?: string
  /** Number of requests in it, and so of expected responses. */
  readonly requests: number
  /** Its own headers, such as `Mcp-Param-*`. @default the headers that the tools of this connection require */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** One end of a conversation. */
export interface Link {
  /** Resolves when the peer has accepted the frame, as far as that can be known. Failures are reported by an event. */
  send(frame: ClientFrame): Promise<void>
  /** Stops reading from the peer, or resumes. */
  hold(wait: boolean): void
  /** Ends the conversation and releases all resources. Can be called twice. */
  close(): Promise<void>
}

/** A client's end of a connection to a server. */
export type ClientConnection = Link

/** A client's end of a connection to an HTTP server. */
export interface HttpLink extends Link {
  /** Abandons a request's response, which is how the modern era cancels. No further events for it follow. */
  leave(frame: ClientFrame): void
}

/** A message from a server to a client. */
export interface ServerMessage {
  /** Exact JSON text; for noise, a line. */
  readonly text: string
  /** Whether it is the response to the request of this stream, and so its last message. */
  readonly final?: boolean
  /** HTTP status; by default that of the specification. */
  readonly status?: number
  /** Whether it must be an event of a stream, even when it is the only message. */
  readonly streamed?: boolean
  /** A line that is not a message; only stdio carries it. */
  readonly noise?: boolean
}

/** A server's end of a connection to a client, or of one request of that client. */
export interface ServerLink {
  /** Resolves when the next message may be sent; at once when the client is gone. */
  send(message: ServerMessage): Promise<void>
  /** False while no client is listening; messages wait then. */
  readonly isOpen: boolean
  /** Sends an HTTP response without JSON-RPC; false after anything was sent. Absent without HTTP. */
  readonly refuse?: (refusal: { readonly status: number; readonly text: string }) => boolean
  /** The response is expected in one piece, so no stream is opened before it arrives. */
  readonly inOnePiece?: () => void
  /** Breaks the connection, like a crashing server. */
  readonly cut?: () => void
}

/** The reason why a frame got no response, or was refused. */
export interface LinkFailure {
  /**
   * `refused`: by an HTTP status; `broken`: no response, or an incomplete one; `lost`: a stream that could not be
   * resumed; `unanswered`: an HTTP response without a result or error.
   */
  readonly kind: 'refused' | 'broken' | 'lost' | 'unanswered'
  /** HTTP status, where there was a response. */
  readonly status?: number
  /** The body of a refusal. */
  readonly body?: string
  /** Target of a redirect that is not followed. */
  readonly location?: string
  /** The server was already gone. */
  readonly isUnsent?: boolean
}

/** Events from the server. They may occur at any time, even while a frame is being sent. */
export interface ClientEvents {
  /**
   * One message or batch as text, which may be invalid JSON.
   *
   * @param via the frame whose HTTP response contained it, if known
   * @param isLossy the bytes were not valid UTF-8; U+FFFD replaces the invalid ones
   */
  message(text: string, via: ClientFrame | undefined, isLossy?: boolean): void
  /** The frame will get no response, or was refused. @param reason a phrase */
  failed(frame: ClientFrame, reason: string, failure: LinkFailure): void
  /** The server is gone; no further events follow. */
  ended(reason: string): void
}
