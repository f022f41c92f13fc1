import { dirname } from 'node:path'
import { checkReplaceable, closed, listTapes, summarizeTape } from '../../tape/index.js'
import { countOf, escapeText } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { openOne, targetFormat, transfer } from '../transfer.js'

/** Builds the session file of a recording whose recorder was killed, from all segments that are there. */
export async function recoverSession(path: string, name: string, output: string, io: Io): Promise<number> {
  const format = targetFormat('session-json', '--to', output)
  const { recording, close } = await openOne(await segmentsOf(path, name), io)
  try {
    await checkReplaceable(output)
    const { messages } = await transfer(recording, { output, format, backup: true }, io, closed)
    await io.write(`${escapeText(output)}: ${countOf(messages, 'message')}, closed\n`)
    return exitCode.done
  } finally {
    await close()
  }
}

/** The files of the same session beside this one; it alone when it does not say which that is. */
async function segmentsOf(path: string, name: string): Promise<string[]> {
  const session = (await summarizeTape(path).catch(() => undefined))?.meta.wiretape?.session
  if (session === undefined) return [name]
  const tapes = (await listTapes(dirname(path))).filter((tape) => tape.meta.wiretape?.session === session)
  const bySegment = new Map(tapes.map((tape) => [tape.meta.wiretape!.segment, tape.path]))
  // A copy of a segment says that it is the same one.
  for (const tape of tapes) if (tape.path === path) bySegment.set(tape.meta.wiretape!.segment, path)
  return [...bySegment.values()]
}
