import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { compactSession } from '../../formats/index.js'
import { checkReplaceable, closed, fullTapePath } from '../../tape/index.js'
import { countOf, escapeText } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { openOne, targetFormat, transfer } from '../transfer.js'

/** Builds the session file for a killed recorder's recording from all existing segments. */
export async function recoverSession(name: string, output: string, io: Io, compact = false): Promise<number> {
  const format = compact ? compactSession : targetFormat('session-json', '--to', output)
  // With a session file requested, a recorder kept a full tape beside a strict one.
  const full = fullTapePath(name)
  const source = existsSync(resolve(io.cwd, full)) ? full : name
  const { recording, close } = await openOne([source], io)
  try {
    await checkReplaceable(output)
    const { messages } = await transfer(recording, { output, format, backup: true }, io, closed)
    await io.write(`${escapeText(output)}: ${countOf(messages, 'message')}, closed\n`)
    return exitCode.done
  } finally {
    await close()
  }
}
