import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { encodeRecord, readTraceLines } from '../formats/index.js'
import { WiretapeError, type Diagnostic, type EndRecord, type Report } from '../model/index.js'
import { diskReason } from './disk.js'
import type { RecordingFile } from './read-file.js'

/** Characters written at a time. */
const charsAtOnce = 1 << 20

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
  let output: FileHandle | undefined
  try {
    output = await open(copy, 'wx', 0o600)
    const found = await copyLines(tape, output, report)
    const whole = found.ended && faults.length === 0
    // On the disk before it takes the place of what may be the only copy.
    if (!whole) await output.sync()
    await output.close()
    if (whole) await rm(copy)
    else await rename(copy, target)
    return { written: whole ? undefined : target, messages: found.messages, faults }
  } catch (cause) {
    if (output) {
      await output.close().catch(() => undefined)
      await rm(copy, { force: true }).catch(() => undefined)
    }
    if (cause instanceof WiretapeError) throw cause
    throw new WiretapeError('unwritable', `cannot write ${target}: ${diskReason(cause)}`, { cause })
  }
}

async function copyLines(
  tape: RecordingFile,
  output: FileHandle,
  report: Report,
): Promise<{ messages: number; ended: boolean }> {
  let messages = 0
  let started: string | undefined
  let last: { t: string; us?: number } | undefined
  let ended = false
  let lines: string[] = []
  let chars = 0
  for await (const { record, text } of readTraceLines(tape.bytes(), report)) {
    ended = record.type === 'end'
    if (record.type === 'meta') started = record.startedAt
    else if (record.type === 'message') messages += record.parts.length
    if (record.type !== 'meta' && record.type !== 'end' && record.type !== 'unknown') last = record
    lines.push(text, '\n')
    chars += text.length
    if (chars < charsAtOnce) continue
    await output.writeFile(lines.join(''))
    lines = []
    chars = 0
  }
  if (!ended) lines.push(encodeRecord(closing(started, last, messages)))
  await output.writeFile(lines.join(''))
  return { messages, ended }
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
