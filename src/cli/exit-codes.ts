/** What a command ends with. `record` exits as the server did instead. */
export const exitCode = {
  done: 0,
  /** It ran and found what it looks for: a fault, a difference. */
  found: 1,
  /** Bad usage or unreadable input. */
  usage: 2,
  /** A server or a client that we were to start is not there. */
  notStarted: 127,
  interrupted: 130,
} as const
