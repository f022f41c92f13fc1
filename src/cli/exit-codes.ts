/** Exit codes of commands. `record` exits with the server's code instead. */
export const exitCode = {
  done: 0,
  /** Problems found: a fault, a difference. */
  found: 1,
  /** Bad usage or unreadable input. */
  usage: 2,
  /** The server or client to start does not exist. */
  notStarted: 127,
  interrupted: 130,
} as const
