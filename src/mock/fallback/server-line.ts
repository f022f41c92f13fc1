import { ServerLines } from '../../link/index.js'
import { createDrain } from '../../transports/index.js'
import type { Writable } from 'node:stream'

/** A real server on stdio, one message per line. */
export type ServerLine = Pick<ServerLines, 'send' | 'close'>

/**
 * @param take called for each line, one after the other
 * @param ended called once, with the reason of the end
 * @returns the server, or the reason why it cannot be started
 */
export function openServerLine(
  command: readonly string[],
  errorOutput: Writable,
  take: (text: string) => Promise<void>,
  ended: (why: string) => void,
): Promise<ServerLine | { readonly error: string }> {
  const drained = createDrain(errorOutput)
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  return ServerLines.start(command, {
    line: (frame) => (frame.kind === 'line' ? take(utf8.decode(frame.bytes)) : undefined),
    stderr: (bytes) => (errorOutput.write(bytes) ? undefined : drained()),
    ended(exit) {
      if (!exit) return ended('it closed its stdout')
      const { exitCode, signal } = exit
      ended(signal === undefined ? `it exited with status ${exitCode}` : `it was ended by ${signal}`)
    },
  })
}
