import { encodeRecord, readTraceLines } from '../formats/index.js'
import type { Diagnostic, Report } from '../model/index.js'
import { closing } from './closed.js'
import type { RecordingFile } from './read-file.js'
import { replaceFile } from './replace-file.js'

/** Characters per write. */
const charsAtOnce = 1 << 20

/** Result of `recoverTape`. */
export interface RecoverReport {
  /** The file with every whole line and an `end`. Undefined when the tape was already complete. */
  readonly written: string | undefined
  readonly messages: number
  /** Lines that could not be read and are missing from the copy. */
  readonly faults: readonly Diagnostic[]
}

/**
 * Writes a closed copy of a tape that was cut off: every readable line, unchanged, and an `end` line. If one file
 * holds several tapes, each without an `end` gets its own. The copy is written to a temporary file and renamed, so
 * that a failure changes nothing.
 *
 * @param target path of the copy; the tape's own path replaces it, and a link's target is replaced
 * @param keep receives the copy instead. If the copy throws, as for a complete tape, its output is invalid.
 * @throws WiretapeError `unreadable`, `not-a-recording`, `unwritable`
 */
export async function recoverTape(
  tape: RecordingFile,
  target: string,
  keep: (copy: AsyncIterable<Uint8Array>) => Promise<unknown> = (copy) => replaceFile(target, copy),
): Promise<RecoverReport> {
  const faults: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): void => {
    if (diagnostic.code !== 'incomplete') faults.push(diagnostic)
  }
  let messages = 0
  let whole = true
  async function* lines(): AsyncGenerator<Uint8Array, void, undefined> {
    const utf8 = new TextEncoder()
    const copy = copyLines(tape, report)
    for (let step = await copy.next(); ; step = await copy.next()) {
      if (step.done) {
        ;({ messages, whole } = step.value)
        break
      }
      yield utf8.encode(step.value)
    }
    whole &&= faults.length === 0
    if (whole) throw nothingToDo
  }
  try {
    await keep(lines())
  } catch (error) {
    if (error !== nothingToDo) throw error
  }
  return { written: whole ? undefined : target, messages, faults }
}

/** Aborts an unnecessary copy. */
const nothingToDo = new Error('the tape is complete')

/** State of one of the tapes in a file, as far as it was read. */
interface TapeSoFar {
  started?: string
  last?: { t: string; us?: number }
  messages: number
  /** A pending `end` line: it is no end if more traffic follows. */
  end?: string
  /** No line has been read yet. */
  empty: boolean
}

async function* copyLines(
  tape: RecordingFile,
  report: Report,
): AsyncGenerator<string, { messages: number; whole: boolean }, undefined> {
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
    yield lines.join('')
    lines = []
    chars = 0
  }
  closeCurrent()
  yield lines.join('')
  return { messages, whole }
}
