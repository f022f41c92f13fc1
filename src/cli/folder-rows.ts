import { registryFolderIn } from '../capture/index.js'
import { liveCaptures, type LiveCapture } from '../control/index.js'
import { joinSegments, type SegmentPlace } from '../formats/index.js'
import { noTime, WiretapeError } from '../model/index.js'
import { diskReason, listTapes, type TapeSummary } from '../tape/index.js'
import type { Io } from './io.js'
import { isLive } from './live.js'

/** One recording: all segments of a session. A second file of the same segment is a separate recording. */
export interface Row {
  readonly session: string | null
  readonly label: string
  /** As given with `--meta`, `--target` and `--note`. */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly startedAt: string
  /** `failed`: the server could not be started. */
  readonly state: 'live' | 'complete' | 'incomplete' | 'failed'
  /** Name and version of the first client; null if the start of the recording does not have them. */
  readonly client: { readonly name: string; readonly version: string } | null
  /** Name and version of the server. */
  readonly server: { readonly name: string; readonly version: string } | null
  /** Null if the end of a file is missing. */
  readonly messages: number | null
  /** JSON-RPC errors and results of failed tools; null if not counted. */
  readonly errors: number | null
  readonly durationMs: number | null
  readonly exitCode: number | null
  readonly sizeBytes: number
  readonly files: readonly string[]
}

/**
 * The recordings of a folder, oldest first.
 *
 * @param name of the folder, as the user wrote it
 * @param list of its tapes
 */
export async function rowsIn(
  path: string,
  { dataFolder }: Pick<Io, 'dataFolder'>,
  name: string = path,
  list: (folder: string) => Promise<TapeSummary[]> = listTapes,
): Promise<Row[]> {
  const captures = await liveCaptures(registryFolderIn(dataFolder))
  const tapes = await list(path).catch((cause: unknown) => {
    throw new WiretapeError('unreadable', `cannot list ${name}: ${reasonOf(cause)}`, { cause })
  })
  return joinSegments(tapes, placeOf).map((group) => rowOf(group, captures))
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ENOTDIR' ? 'it is not a folder' : diskReason(cause)
}

export function placeOf({ place }: TapeSummary): SegmentPlace {
  return place
}

export function rowOf(group: readonly TapeSummary[], captures: readonly LiveCapture[]): Row {
  const { meta } = group[0]!
  const { end } = group.at(-1)!
  const { client = null, server = null } = group[0]!
  const written = group.some((tape) => isLive(tape, captures))
  // The end line of a strict segment does not say whether another segment follows.
  const ended = end !== undefined && (meta.wiretape ? end.wiretape?.rotated !== true : !written)
  const live = !ended && written
  return {
    session: meta.wiretape?.session ?? null,
    label: meta.label,
    metadata: Object.fromEntries(
      (meta.wiretape?.metadata ?? []).map(([key, text]) => [key, JSON.parse(text)]),
    ),
    startedAt: meta.startedAt,
    state: ended ? (end.wiretape?.error === undefined ? 'complete' : 'failed') : live ? 'live' : 'incomplete',
    client,
    server,
    messages: sumOf(group.map((tape) => tape.end?.wiretape?.messages)),
    errors: sumOf(group.map((tape) => tape.end?.wiretape?.errors)),
    durationMs: ended && meta.startedAt !== noTime ? end.durationMs : null,
    // `recover` does not know it.
    exitCode: ended && !end.wiretape?.recovered ? end.exitCode : null,
    sizeBytes: group.reduce((sum, tape) => sum + tape.sizeBytes, 0),
    files: group.map((tape) => tape.path),
  }
}

/** Null if one is unknown. */
function sumOf(counts: readonly (number | undefined)[]): number | null {
  let sum = 0
  for (const count of counts) {
    if (count === undefined) return null
    sum += count
  }
  return sum
}
