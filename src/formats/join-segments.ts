import type { TapeRecord } from '../model/index.js'

/** Place of a file in a recording of several files. */
export interface SegmentPlace {
  /** The same for all files of one recording; undefined for a file that is a complete recording. */
  readonly session: string | undefined
  /** Position in the order of the files. */
  readonly segment: number
  /** Inferred from names and first lines only: the parts keep the `end` and `meta` lines of the files. */
  readonly isGuessed?: boolean
  /** Content of a first line, which starts a recording unless the previous file has the same. */
  readonly begins?: string
}

/**
 * Place of a tape by its name and first record. Segments of wiretape have an identity, except those of `--strict-v1`,
 * which have the same first line and numbered names. mcp-tape renames full files to `NAME.jsonl.1`, the older to
 * `NAME.jsonl.2`, and begins the next without a first line.
 *
 * @param path as unique as the file
 */
export function tapePlace(path: string, first: TapeRecord | undefined): SegmentPlace {
  const alone = { session: undefined, segment: 0 }
  if (first?.type === 'meta' && first.wiretape) {
    return { session: first.wiretape.session, segment: first.wiretape.segment }
  }
  const isStart = first?.type === 'meta' && first.made !== true
  if (!isStart && first?.type !== 'message' && first?.type !== 'meta') return alone
  const [, base = '', older] = /^(.*\.jsonl)(?:\.([1-9]\d{0,3}))?$/s.exec(path) ?? []
  if (base === '') return alone
  if (older !== undefined || !isStart) {
    const begins = isStart ? { begins: lineOf(first) } : {}
    return { session: `rotated ${base}`, segment: -Number(older ?? 0), isGuessed: true, ...begins }
  }
  if (first.mcpTapVersion?.startsWith('wiretape ') !== true)
    return { session: `rotated ${base}`, segment: 0, isGuessed: true, begins: lineOf(first) }
  const [, stem, segment = '0'] = /^(.*?)(?:\.([1-9]\d{0,8}))?\.jsonl$/s.exec(base)!
  return { session: `strict ${stem} ${lineOf(first)}`, segment: Number(segment), isGuessed: true }
}

/** The common data of two files of one recording, when each has a first line. */
function lineOf({ startedAt, label, command }: Extract<TapeRecord, { type: 'meta' }>): string {
  return JSON.stringify([startedAt, label, command])
}

/**
 * The files of each recording, in segment order. A file with a segment number that its session already has,
 * such as a copy, becomes a separate recording.
 */
export function joinSegments<T>(files: readonly T[], placeOf: (file: T) => SegmentPlace): T[][] {
  const groups: Map<number, T>[] = []
  const bySession = new Map<string, Map<number, T>>()
  for (const file of files) {
    const { session, segment } = placeOf(file)
    const same = session === undefined ? undefined : bySession.get(session)
    if (same && !same.has(segment)) {
      same.set(segment, file)
      continue
    }
    const group = new Map([[segment, file]])
    groups.push(group)
    if (session !== undefined && !same) bySession.set(session, group)
  }
  return groups.flatMap((group) => {
    const sorted = [...group].toSorted(([a], [b]) => a - b).map(([, file]) => file)
    const recordings: T[][] = []
    let begun: string | undefined
    for (const file of sorted) {
      const { begins } = placeOf(file)
      if (recordings.length > 0 && (begins === undefined || begins === begun)) recordings.at(-1)!.push(file)
      else recordings.push([file])
      begun = begins ?? begun
    }
    return recordings
  })
}

/** Position of a file among joined files. */
export interface PartOf {
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** Whether a record belongs to the whole recording, and not only to its file. */
export function isOfWhole({ type }: Pick<TapeRecord, 'type'>, { isFirst, isLast }: PartOf): boolean {
  if (type === 'meta') return isFirst
  return type !== 'end' || isLast
}

/** Whether a diagnostic concerns the whole recording, and not the start or end of one file. */
export function isAboutWhole(code: string, { isFirst, isLast }: PartOf): boolean {
  if (code === 'no-meta') return isFirst
  return code !== 'incomplete' || isLast
}
