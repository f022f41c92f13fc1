import { compactSession, sessionJson } from '../formats/index.js'
import {
  isUntouched,
  refuseStandardStream,
  refuseTape,
  replaceFile,
  snapshotTape,
  type FileIdentity,
} from '../tape/index.js'

/** The inputs of a session file. Can be posted to another thread. */
export interface SaveRequest {
  /** Segments of the tape, oldest first. */
  readonly tapes: readonly string[]
  readonly target: string
  /** The file of our last save. Any other file at `target` is kept as `.bak`. */
  readonly own?: FileIdentity | undefined
  /** Saves nothing while another file than `own` is there: two runs on one file would fill the disk with backups. */
  readonly yields?: boolean
  /** Every payload on one line. @default false */
  readonly compact?: boolean
}

/** The outcome of a save. */
export type SaveReply =
  | { readonly tookMs: number; readonly own?: FileIdentity | undefined }
  | { readonly trouble: string }

/** Streams a tape into a session file, which never replaces a tape. */
export async function saveSession(request: SaveRequest): Promise<SaveReply> {
  const startedMs = performance.now()
  try {
    refuseStandardStream(request.target)
    const { target, own: before, yields = false, compact = false } = request
    if (yields && before && !(await isUntouched(target, before))) return { tookMs: 0, own: before }
    await refuseTape(target)
    const recording = await snapshotTape(request.tapes)
    const chunks = (compact ? compactSession : sessionJson).write!(recording, () => undefined)
    const earlier = request.own && { own: request.own }
    const own = await replaceFile(request.target, chunks, { backup: true, ...earlier })
    return { tookMs: performance.now() - startedMs, own }
  } catch (error) {
    return { trouble: error instanceof Error ? error.message : String(error) }
  }
}
