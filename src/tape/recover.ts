import { open, realpath, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { encodeRecord, readTraceLines } from '../formats/index.js'
import { WiretapeError, type Diagnostic, type Report } from '../model/index.js'
import { closing } from './closed.js'
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
 * `end` line; of several tapes in one file, each that lacks one gets its own. Written beside and renamed, so
 * that a failure leaves everything as it was.
 *
 * @param target where the copy goes; the tape's own path replaces it, a link stays and what it names is replaced
 * @throws WiretapeError `unreadable`, `not-a-recording`, `unwritable`
 */
export async function recoverTape(tape: RecordingFile, target: string): Promise<RecoverReport> {
  const faults: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): void => {
    if (diagnostic.code !== 'incomplete') faults.push(diagnostic)
  }
  const place = await realpath(target).catch(() => target)
  const copy = join(dirname(place), `.${process.pid}-${Date.now()}.recover`)
  let output: FileHandle | undefined
  try {
    output = await open(copy, 'wx', 0o600)
    const found = await copyLines(tape, output, report)
    const whole = found.whole && faults.length === 0
    // On the disk before it takes the place of what may be the only copy.
    if (!whole) await output.sync()
    await output.close()
    if (whole) await rm(copy)
    else await rename(copy, place)
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

/** One of the tapes that a file may hold, as far as it was read. */
interface TapeSoFar {
  started?: string
  last?: { t: string; us?: number }
  messages: number
  /** An `end` line, held back: one that more traffic follows is none. */
  end?: string
  /** Nothing of it was read yet. */
  empty: boolean
}

async function copyLines(
  tape: RecordingFile,
  output: FileHandle,
  report: Report,
): Promise<{ messages: number; whole: boolean }> {
  let current: TapeSoFar = { messages: 0, empty: true }
  let messages = 0
  let whole = true
  let lines: string[] = []
  let chars = 0
  const write = (line: string): void => {
    lines.push(line)
    chars += line.length
  }
  const closeCurrent = (): void => {
    if (current.end === undefined) whole = false
    write(current.end ?? encodeRecord(closing(current)))
    messages += current.messages
  }
  for await (const { record, text } of readTraceLines(tape.bytes(), report)) {
    if (record.type === 'meta') {
      if (!current.empty) closeCurrent()
      current = { started: record.startedAt, messages: 0, empty: true }
    }
    current.empty = false
    if (record.type === 'end') current.end = `${text}\n`
    else write(`${text}\n`)
    if (record.type === 'message') current.messages += record.parts.length
    if (record.type !== 'meta' && record.type !== 'end' && record.type !== 'unknown') {
      current.last = record
      delete current.end
    }
    if (chars < charsAtOnce) continue
    await output.writeFile(lines.join(''))
    lines = []
    chars = 0
  }
  closeCurrent()
  await output.writeFile(lines.join(''))
  return { messages, whole }
}
