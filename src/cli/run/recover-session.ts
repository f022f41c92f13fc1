import { checkReplaceable, closed } from '../../tape/index.js'
import { countOf, escapeText } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { openOne, targetFormat, transfer } from '../transfer.js'

/** Builds the session file of a recording whose recorder was killed, from all segments that are there. */
export async function recoverSession(name: string, output: string, io: Io): Promise<number> {
  const format = targetFormat('session-json', '--to', output)
  const { recording, close } = await openOne([name], io)
  try {
    await checkReplaceable(output)
    const { messages } = await transfer(recording, { output, format, backup: true }, io, closed)
    await io.write(`${escapeText(output)}: ${countOf(messages, 'message')}, closed\n`)
    return exitCode.done
  } finally {
    await close()
  }
}
