/** Milliseconds since the epoch. */
export type Stamp = number | bigint

/** What a message is to an importer. */
export type Meaning =
  | 'list'
  | 'call'
  | 'tools'
  | 'result'
  | 'error'
  | 'other-request'
  | 'notification'
  /** Neither a method nor an outcome: no message of JSON-RPC at all. */
  | 'none'
