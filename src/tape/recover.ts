import { encodeRecord, readTraceLines } from '../formats/index.js'
import type { Diagnostic, Report } from '../model/index.js'
import { closing } from './closed.js'
import type { RecordingFile } from './read-file.js'
import { replaceFile } from './replace-file.js'

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
 * @param keep takes the copy instead. What it was given does not count when it throws, as it does for a whole tape.
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

/** Ends a copy that is not needed after all. */
const nothingToDo = new Error('the tape is whole')

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
