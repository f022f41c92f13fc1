/** Events for pages that show the session. */
export type SessionEvent =
  | {
      readonly type: 'session'
      readonly recording: string
      /** Exact text of the response to `initialize`; null for servers without it. */
      readonly greeting: string | null
      readonly roots: string
    }
  /** A request of the server, waiting for a person. */
  | { readonly type: 'question'; readonly question: string; readonly text: string }
  | { readonly type: 'settled'; readonly question: string }
  | { readonly type: 'notification'; readonly text: string }
  | { readonly type: 'ended'; readonly why: string }

/** A person's response: exact JSON text of a result or error. */
export type PersonsAnswer = { readonly result: string } | { readonly error: string }
