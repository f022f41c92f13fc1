/**
 * A message of our own recorder that says nothing about its session and is related to others by a stored answer at
 * most, given as numbers and places instead of a record: rows of a million such messages are made without an object
 * for each.
 */
export interface PlainMessage {
  readonly kind: 'request' | 'notification' | 'result' | 'error'
  readonly fromServer: boolean
  readonly us: number
  readonly seq: number
  readonly sizeBytes: number
  /** Empty for an answer. */
  readonly method: string
  readonly toolError: boolean
  /** What the places below are in. */
  readonly bytes: Uint8Array
  /** The recorder's own id, in ASCII. */
  readonly idStart: number
  readonly idEnd: number
  /** That of the request which this answers; -1 where there is none. */
  readonly corrStart: number
  readonly corrEnd: number
  readonly late: boolean
  /** Places of the conversation's name, in ASCII; -1 where there is none. */
  readonly conversationStart: number
  readonly conversationEnd: number
  /** Number of the HTTP exchange; -1 where there is none. */
  readonly httpExchange: number
}
