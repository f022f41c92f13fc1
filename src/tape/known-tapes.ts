import { stat } from 'node:fs/promises'
import { listTapes, summarizeTape, type TapeSummary } from './summary.js'

interface Known {
  readonly stamp: string
  /** Undefined for a file that is no tape. */
  readonly summary: TapeSummary | undefined
}

/** Lists the tapes of a folder, as `listTapes` does. */
export type TapeLister = (folder: string) => Promise<TapeSummary[]>

/**
 * A `listTapes` for a folder that is listed again and again: a file is read again only when its size, its time of
 * modification or its inode changed.
 */
export function createTapeLister(): TapeLister {
  const known = new Map<string, Known>()
  return async (folder) => {
    const there = new Set<string>()
    const tapes = await listTapes(folder, async (path) => {
      const { size, mtimeNs, ino } = await stat(path, { bigint: true })
      // Taken before the file is read: a write in between gives another stamp next time.
      const stamp = `${size} ${mtimeNs} ${ino}`
      there.add(path)
      const before = known.get(path)
      if (before?.stamp === stamp) return before.summary
      const summary = await summarizeTape(path)
      known.set(path, { stamp, summary })
      return summary
    })
    for (const path of known.keys()) if (!there.has(path)) known.delete(path)
    return tapes
  }
}
