import { WiretapeError } from '../../model/index.js'
import type { Manifest } from '../../ship/index.js'
import { loadRecordings } from '../recordings.js'
import { RowColumns } from '../sql/row-columns.js'
import { DeadSegment } from './fetch-segment.js'

/** @throws DeadSegment if the content cannot be indexed, WiretapeError if it cannot be read */
export async function rowsOf(path: string, manifest: Manifest): Promise<RowColumns> {
  try {
    let rows: RowColumns | undefined
    const { close } = await loadRecordings([path], '/', (fold) => {
      rows = new RowColumns(fold, manifest.hash, [path])
      return rows
    })
    await close()
    return rows!
  } catch (error) {
    throw indexFailure(error)
  }
}

/** Of an error during indexing, the segment is the cause, unless the system reports it. */
export function indexFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof WiretapeError || 'syscall' in error) return error
  return new DeadSegment(`it cannot be indexed: ${error.message}`, { cause: error })
}

/** Why a retry with these bytes would fail too; undefined if they are not the cause. */
export function reasonOf(error: unknown): string | undefined {
  if (error instanceof DeadSegment) return error.message
  if (!(error instanceof WiretapeError)) return undefined
  if (error.code === 'not-a-recording' || error.code === 'unsupported-version') return 'it is not a tape'
  return error.code === 'unreadable' ? error.message : undefined
}
