import { Readable } from 'node:stream'
import { WiretapeError } from '../../model/index.js'
import { replaceFile } from '../../tape/index.js'
import { loadRecordings } from '../recordings.js'
import { othersOf, type BatchSizes } from './batch-list.js'
import { RecordingTable } from './recording-table.js'
import type { RowColumns } from './row-columns.js'

/** A recording to index. */
export interface BatchMember {
  /** For users. */
  readonly name: string
  readonly paths: readonly string[]
  /** `paths` includes all segments. */
  readonly areAll: boolean
  /** Identifies the recording and its state. */
  readonly part: string
}

/** Recordings whose rows are in the same two Parquet files. */
export interface BatchOrder {
  /** Of the file of messages. */
  readonly path: string
  readonly cwd: string
  readonly members: readonly BatchMember[]
}

/** A recording that cannot be read. Plain data: it crosses threads. */
export interface BatchFailure {
  readonly part: string
  readonly code: WiretapeError['code']
  readonly message: string
  readonly hint?: string
}

export interface BatchResult {
  /** Sizes of the files; undefined if no recording could be read. */
  readonly sizes: BatchSizes | undefined
  readonly failures: readonly BatchFailure[]
}

/** Answer of a thread. */
export type BatchAnswer = BatchResult | { readonly refused: WiretapeError['code']; readonly message: string }

/** Writes the rows of recordings. @throws WiretapeError `unwritable` */
export async function writeBatch({ path, cwd, members }: BatchOrder): Promise<BatchResult> {
  const table = new RecordingTable()
  const failures: BatchFailure[] = []
  for (const { name, paths, areAll, part } of members) {
    try {
      let columns: RowColumns | undefined
      const { close } = await loadRecordings(
        paths,
        cwd,
        (fold) => (columns = table.begin(fold, name, paths)),
        areAll,
      )
      await close()
      table.add(columns!, name, part)
    } catch (error) {
      if (!(error instanceof WiretapeError)) throw error
      table.discard()
      const { code, message, hint } = error
      failures.push({ part, code, message, ...(hint !== undefined && { hint }) })
    }
  }
  if (failures.length === members.length) return { sizes: undefined, failures }
  const { messages, others } = table.files()
  // Lines written in the meantime are included; only the next check detects them.
  const written = await Promise.allSettled([
    replaceFile(othersOf(path), Readable.from(others)),
    replaceFile(path, Readable.from(messages)),
  ])
  for (const each of written) if (each.status === 'rejected') throw each.reason
  return { sizes: { messages: sizeOf(messages), others: sizeOf(others) }, failures }
}

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0)
}
