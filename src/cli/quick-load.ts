import {
  canLend,
  LentMessage,
  PlainLineMessage,
  TraceScan,
  type PlainLine,
  type Seen,
  type TraceLine,
} from '../formats/index.js'
import {
  asLegacySse,
  madeMeta,
  type Diagnostic,
  type Fold,
  type PlainMessage,
  type TapeRecord,
  type Rows,
} from '../model/index.js'
import type { RecordingFile } from '../tape/index.js'
import { createByteTexts } from '../wire/index.js'
import { LineChunks } from './line-chunks.js'
import { inFile } from './named-file.js'
import { withProgress } from './progress.js'

/** Place of a line in its file, in bytes. */
export interface LinePlace {
  readonly path: string
  readonly offset: number
  readonly sizeBytes: number
}

/** A message without a record; one reused object, valid until its consumer returns. */
export interface PlainRow extends PlainMessage {
  readonly line: PlainLine
  /** '' without one. */
  readonly subject: string
  readonly conversation: string
}

/** Watches the lines of tapes while they are loaded, most of them as bytes. */
export interface PlainWatcher {
  /** Records may be `LentMessage`s: without arguments, and valid until `take` returns. @default false */
  readonly takesLent?: boolean
  /** @param place undefined if the recording is no tape */
  take(record: TapeRecord, rows: Rows, place?: LinePlace): void
  plain(message: PlainRow, row: number, place: LinePlace): void
}

/** A tape and its facts after reading it to the end. */
export interface ScannedFile {
  readonly file: RecordingFile
  readonly name: string
  readonly seen: Seen
  /** The whole file, if it is small and was not scanned yet. */
  content?: Uint8Array | undefined
  checked?: boolean
  count?: number
}

export interface Scanning {
  readonly fold: Fold
  readonly watcher: PlainWatcher | undefined
  readonly report: (problem: Diagnostic & { readonly file: string }) => void
  /** The transport differs from the one in the first record. */
  readonly isLegacySse: boolean
  /** Called with each record, after the fold. */
  readonly see: (record: TapeRecord) => void
}

/** Whether the file is a tape that is read completely. */
export function isScannable({ file: { format, part } }: Pick<ScannedFile, 'file'>): boolean {
  return format.id === 'trace-v1' && part === undefined
}

/**
 * Reads a tape into a fold like its format's `read`, but several times as fast: message lines written by our recorder
 * need no record.
 *
 * @returns characters of the longest JSON-RPC id among lines without a record
 * @throws WiretapeError like `read`
 */
export async function scanTape(opened: ScannedFile, scanning: Scanning): Promise<number> {
  const { file, name, seen } = opened
  const { fold, watcher, report, isLegacySse, see } = scanning
  const { path, sizeBytes } = file
  const message = new PlainView()
  let problems = 0
  let count = 0
  let longestId = 0
  let isBegun = false

  function reported(diagnostic: Diagnostic): void {
    problems += 1
    report({ ...diagnostic, file: name })
  }

  function push(record: TapeRecord, offset: number, size: number): void {
    const told = isLegacySse && record.type === 'meta' ? asLegacySse(record) : record
    const rows = fold.push(told)
    watcher?.take(told, rows, { path, offset, sizeBytes: size })
    see(told)
    count += 1
  }

  // The watcher gets the same object each time.
  const place = { path, offset: 0, sizeBytes: 0 }
  const scan = new TraceScan(
    reported,
    (bytes, line, offset, size) => {
      if (!isBegun) return false
      if (line.isNamed) message.take(bytes, line)
      const row = line.isNamed ? fold.pushPlain(message) : -1
      if (row < 0) {
        if (!mayLend(line, scanning)) return false
        push(new LentMessage(bytes, line), offset, size)
        return true
      }
      count += 1
      if (line.rpcIdStart >= 0) longestId = Math.max(longestId, line.rpcIdEnd - line.rpcIdStart)
      place.offset = offset
      place.sizeBytes = size
      watcher?.plain(message, row, place)
      return true
    },
    { borrowed: true, whole: true, nameless: true },
  )
  if (file.fault) reported(file.fault)
  try {
    const chunks = new LineChunks('trace-v1')
    const { content } = opened
    delete opened.content
    const bytes = content ? [content] : withProgress(name, chunks.read(path, sizeBytes), sizeBytes)
    for await (const chunk of bytes) scan.push(chunk, take, chunks.lines)
    scan.end(take)
  } catch (error) {
    throw inFile(error, name, path)
  }
  opened.checked = problems === 0
  opened.count = count
  return longestId

  function take({ record, offset, sizeBytes: size }: TraceLine): void {
    if (!isBegun) {
      // The tape has lost its start.
      const made = madeMeta(record)
      isBegun = made !== undefined || record.type === 'meta'
      if (made) {
        seen.made = made
        push(made, offset, 0)
      }
    }
    push(record, offset, size)
  }
}

/** Messages of other recorders are related by their content. */
function mayLend(line: PlainLine, { fold, watcher }: Scanning): boolean {
  const takesLent = !watcher || watcher.takesLent === true
  return !fold.isOwn && takesLent && !line.isTelling && canLend(line)
}

const texts = createByteTexts()

class PlainView extends PlainLineMessage implements PlainRow {
  #line: PlainLine | undefined

  get line(): PlainLine {
    return this.#line!
  }

  get subject(): string {
    return texts.at(this.bytes, this.line.subjectStart, this.line.subjectEnd)
  }

  get conversation(): string {
    return texts.at(this.bytes, this.conversationStart, this.conversationEnd)
  }

  take(bytes: Uint8Array, line: PlainLine): void {
    this.#line = line
    this.read(bytes, line, texts.at(bytes, line.methodStart, line.methodEnd))
  }
}
