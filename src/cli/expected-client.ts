import { isatty } from 'node:tty'
import type { Io } from './io.js'

/**
 * Prints on a terminal that a client is expected on stdin: otherwise, a person would wait for output.
 *
 * @param instead an alternative for people
 */
export async function sayClientExpected(io: Io, quiet: boolean | undefined, instead: string): Promise<void> {
  if (quiet || !isatty(0)) return
  await io.complain(`waiting for an MCP client on stdin; ${instead}; press Ctrl+D to stop`)
}
