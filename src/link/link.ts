/** What a client sends as one line or one body, with what a transport has to know about it. */
export interface ClientFrame {
  /** Exact text: one message, or a batch. */
  readonly text: string
  /** Of a single message. */
  readonly method?: string
  /** Tool or prompt name, resource URI. */
  readonly name?: string
  /** Protocol version in `_meta`, which the modern era (2026-07-28) has in every request. */
  readonly protocolVersion?: string
  /** Requests in it: as many answers are waited for. */
  readonly requests: number
  /** Headers of its own, such as `Mcp-Param-*`. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** What comes from the server. All of it may come at any time, also while something is sent. */
export interface ClientEvents {
  /**
   * One message or batch, as text; it may be no JSON at all.
   *
   * @param via the frame whose own response brought it, where the transport knows
   */
  message(text: string, via: ClientFrame | undefined): void
  /**
   * No answer will come for this frame, or it was refused.
   *
   * @param isUnsent nobody was there any more to take it
   */
  failed(frame: ClientFrame, reason: string, isUnsent?: boolean): void
  /** The server is gone; nothing more comes. */
  ended(reason: string): void
}

/** A client's end of a connection to a server. */
export interface ClientConnection {
  /** Resolves when the server has taken it, as far as that can be known; whether it failed is told by an event. */
  send(frame: ClientFrame): Promise<void>
  /** Ends the session and lets go of everything. Can be called twice. */
  close(): Promise<void>
}
