/** Milliseconds since the epoch. */
export type Stamp = number | bigint

/** Classification of a message by an importer. */
export type Meaning =
  | 'list'
  | 'call'
  | 'tools'
  | 'result'
  | 'error'
  | 'other-request'
  | 'notification'
  /** Neither a method nor an outcome: not a JSON-RPC message. */
  | 'none'
