/**
 * A message of wiretape's recorder without information about its session, and related to others at most by a stored
 * response. It consists of numbers and offsets instead of a record: rows for a million such messages need no object
 * each.
 */
export interface PlainMessage {
  readonly kind: 'request' | 'notification' | 'result' | 'error'
  readonly fromServer: boolean
  readonly us: number
  readonly seq: number
  readonly sizeBytes: number
  /** Empty for a response. */
  readonly method: string
  readonly toolError: boolean
  /** The offsets below refer to these bytes. */
  readonly bytes: Uint8Array
  /** The recorder's own id, in ASCII. */
  readonly idStart: number
  readonly idEnd: number
  /** Id of the request that this message answers; -1 when there is none. */
  readonly corrStart: number
  readonly corrEnd: number
  readonly late: boolean
  /** Offsets of the conversation's name, in ASCII; -1 when there is none. */
  readonly conversationStart: number
  readonly conversationEnd: number
  /** Number of the HTTP exchange; -1 when there is none. */
  readonly httpExchange: number
}
