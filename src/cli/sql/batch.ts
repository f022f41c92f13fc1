import { Readable } from 'node:stream'
import { WiretapeError } from '../../model/index.js'
import { replaceFile } from '../../tape/index.js'
import { loadRecordings } from '../recordings.js'
import { RecordingTable } from './recording-table.js'
import { RowColumns } from './row-columns.js'

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

/** Recordings whose rows are in one Parquet file. */
export interface BatchOrder {
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
  /** Size of the file; 0 if no recording could be read. */
  readonly bytes: number
  readonly failures: readonly BatchFailure[]
}

/** Answer of a thread. */
export type BatchAnswer = BatchResult | { readonly refused: WiretapeError['code']; readonly message: string }

/** Writes the rows of recordings to one file. @throws WiretapeError `unwritable` */
export async function writeBatch({ path, cwd, members }: BatchOrder): Promise<BatchResult> {
  const table = new RecordingTable()
  const failures: BatchFailure[] = []
  for (const { name, paths, areAll, part } of members) {
    try {
      let columns: RowColumns | undefined
      const { close } = await loadRecordings(
        paths,
        cwd,
        (fold) => (columns = new RowColumns(fold, name, paths)),
        areAll,
      )
      await close()
      table.add(columns!, name, part)
    } catch (error) {
      if (!(error instanceof WiretapeError)) throw error
      const { code, message, hint } = error
      failures.push({ part, code, message, ...(hint !== undefined && { hint }) })
    }
  }
  if (failures.length === members.length) return { bytes: 0, failures }
  const chunks = table.chunks()
  // Lines written in the meantime are included; only the next check detects them.
  await replaceFile(path, Readable.from(chunks))
  return { bytes: chunks.reduce((sum, { length }) => sum + length, 0), failures }
}
