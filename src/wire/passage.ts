/** Header names and values alternately, as received: `name, value, name, value, …`. */
export type RawHeaders = readonly string[]

/** The decision about a request or a response. */
export type Passing =
  | {
      readonly kind: 'forward'
      readonly body?: Uint8Array
      readonly headers?: RawHeaders
      /** Responses to parts of a batch, made here: JSON texts that are joined with the upstream's response. */
      readonly answers?: readonly string[]
    }
  /** The message is dropped. Its sender gets this response instead. */
  | { readonly kind: 'answer'; readonly status: number; readonly body?: Uint8Array; readonly why: string }
  /** Both connections are closed. */
  | { readonly kind: 'disconnect'; readonly why: string }

/** An event at the gate. `forward` or `drop` is called once, unless the event passes at once. */
export interface EventPassage {
  /** @param text replaces the data of the event */
  forward(text?: string): void
  drop(): void
  /** Sends an event of our own. */
  send(text: string): void
  disconnect(why: string): void
}
