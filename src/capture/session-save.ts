import { sessionJson } from '../formats/index.js'
import { refuseStandardStream, refuseTape, replaceFile, snapshotTape } from '../tape/index.js'

/** What a session file is made of. Can be posted to another thread. */
export interface SaveRequest {
  /** Segments of the tape, oldest first. */
  readonly tapes: readonly string[]
  readonly target: string
  /** Keep what stood at `target` before as `.bak`. */
  readonly backup: boolean
}

/** What came of it. */
export type SaveReply = { readonly tookMs: number } | { readonly trouble: string }

/** Streams a tape into a session file, which never takes the place of a tape. */
export async function saveSession(request: SaveRequest): Promise<SaveReply> {
  const startedMs = performance.now()
  try {
    refuseStandardStream(request.target)
    await refuseTape(request.target)
    const recording = await snapshotTape(request.tapes)
    const chunks = sessionJson.write!(recording, () => undefined)
    await replaceFile(request.target, chunks, { backup: request.backup })
    return { tookMs: performance.now() - startedMs }
  } catch (error) {
    return { trouble: error instanceof Error ? error.message : String(error) }
  }
}
