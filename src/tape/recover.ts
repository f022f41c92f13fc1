import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { encodeRecord, readTraceLines } from '../formats/index.js'
import { WiretapeError, type Diagnostic, type EndRecord } from '../model/index.js'
import { diskReason } from './disk.js'
import type { RecordingFile } from './read-file.js'

/** What `recoverTape` found and did. */
export interface RecoverReport {
  /** The file with every whole line, closed by an `end`. Undefined when the tape was whole already. */
  readonly written: string | undefined
  readonly messages: number
  /** Lines that could not be read and are not in the copy. */
  readonly faults: readonly Diagnostic[]
}

/**
 * Writes a closed copy of a tape that was cut off: every line that can be read, exactly as it stands, and an
 * `end` line. Written beside and renamed, so that a failure leaves everything as it was.
 *
 * @param target where the copy goes; the tape's own path replaces it
 * @throws WiretapeError `unreadable`, `not-a-recording`, `unwritable`
 */
export async function recoverTape(tape: RecordingFile, target: string): Promise<RecoverReport> {
  const faults: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): void => {
    if (diagnostic.code !== 'incomplete') faults.push(diagnostic)
  }
  const copy = join(dirname(target), `.${process.pid}-${Date.now()}.recover`)
  const output = createWriteStream(copy, { flags: 'wx', mode: 0o600 })
  const failed = new Promise<never>((_, reject) => output.once('error', reject))
  failed.catch(() => undefined)
  const write = async (text: string): Promise<void> => {
    if (!output.write(text)) await Promise.race([once(output, 'drain'), failed])
  }
  try {
    let messages = 0
    let started: string | undefined
    let last: { t: string; us?: number } | undefined
    let ended = false
    for await (const { record, text } of readTraceLines(tape.bytes(), report)) {
      ended = record.type === 'end'
      if (record.type === 'meta') started = record.startedAt
      else if (record.type === 'message') messages += record.parts.length
      if (record.type !== 'meta' && record.type !== 'end' && record.type !== 'unknown') last = record
      await write(`${text}\n`)
    }
    if (!ended) await write(encodeRecord(closing(started, last, messages)))
    output.end()
    await Promise.race([once(output, 'close'), failed])
    if (ended && faults.length === 0) {
      await rm(copy)
      return { written: undefined, messages, faults }
    }
    await rename(copy, target)
    return { written: target, messages, faults }
  } catch (cause) {
    output.destroy()
    await rm(copy, { force: true })
    if (cause instanceof WiretapeError) throw cause
    throw new WiretapeError('unwritable', `cannot write ${target}: ${diskReason(cause)}`, { cause })
  }
}

function closing(
  started: string | undefined,
  last: { t: string; us?: number } | undefined,
  messages: number,
): EndRecord {
  const t = last?.t ?? started ?? new Date(0).toISOString()
  const ms = last?.us === undefined ? Date.parse(t) - Date.parse(started ?? t) : last.us / 1000
  return {
    type: 'end',
    t,
    // How the server ended is not known; trace v1 wants a number.
    exitCode: 1,
    durationMs: Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : 0,
    wiretape: { messages, recovered: true },
  }
}
