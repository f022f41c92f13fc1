import { isatty } from 'node:tty'
import type { Io } from './io.js'

/**
 * Says on a terminal that a client is expected on stdin: a person who typed the command would wait for something to happen.
 *
 * @param instead another way, for people
 */
export async function sayClientExpected(io: Io, quiet: boolean | undefined, instead: string): Promise<void> {
  if (quiet || !isatty(0)) return
  await io.complain(`waiting for an MCP client on stdin; ${instead}; Ctrl-D ends it`)
}
