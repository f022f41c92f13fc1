import { countOf, formatBytes } from '../../render/index.js'
import { placeOf } from '../diagnostics.js'
import type { LoadedRecording } from '../recordings.js'
import { isUnanswered, type EntryTable } from '../../model/index.js'

/** SDK clients refuse a line of stdio that is longer than this. */
const longestSdkLine = 10 * 1024 * 1024

/** Something that is wrong with a recording or with what it recorded. */
export interface Fault {
  readonly code: string
  /** In words for a person, not escaped. */
  readonly message: string
  /** Message numbers, at most the first few. */
  readonly messages?: readonly number[]
  readonly count: number
}

const shown = 10

/** Everything `--check` finds; empty for a recording without fault. */
export function faultsOf(recording: LoadedRecording): Fault[] {
  const { entries } = recording.fold
  const faults: Fault[] = recording.problems.map((problem) => ({
    code: problem.code,
    message: `${problem.file}${placeOf(problem)}: ${problem.message}`,
    count: 1,
  }))
  const more = recording.problemCount - recording.problems.length
  if (more > 0)
    faults.push({ code: 'more', message: `${countOf(more, 'more problem')} in its lines`, count: more })
  faults.push(...segmentFaults(recording))
  const counts = recording.fold.counts()
  const add = (code: string, count: number, message: string, rows?: (row: number) => boolean): void => {
    if (count === 0) return
    faults.push({ code, count, message, ...(rows && { messages: firstOf(entries, rows) }) })
  }
  add(
    'gap',
    counts.gaps,
    `${countOf(counts.gaps, 'gap')}: ${countOf(counts.lost, 'message')} passed unrecorded`,
  )
  add('unanswered', counts.unanswered, countOf(counts.unanswered, 'unanswered request'), (row) =>
    isUnanswered(entries, row),
  )
  const flag = (name: 'late' | 'orphan' | 'duplicate' | 'undelivered') => (row: number) =>
    entries.has(row, name)
  add('late', counts.late, countOf(counts.late, 'late answer'), flag('late'))
  add(
    'orphan',
    counts.orphans,
    `${countOf(counts.orphans, 'answer')} to no request on the recording`,
    flag('orphan'),
  )
  add(
    'duplicate-id',
    counts.duplicates,
    `${countOf(counts.duplicates, 'request')} under an id in use`,
    flag('duplicate'),
  )
  add(
    'undelivered',
    counts.undelivered,
    `${countOf(counts.undelivered, 'message')} not delivered`,
    flag('undelivered'),
  )
  add(
    'invalid',
    counts.invalid,
    `${countOf(counts.invalid, 'message')} of JSON but not JSON-RPC`,
    (row) => entries.kind(row) === 'invalid',
  )
  add('noise', counts.noise, `${countOf(counts.noise, 'line')} that clients cannot parse`)
  const long = firstOf(
    entries,
    (row) => isMessage(entries, row) && entries.size(row) > longestSdkLine,
    Infinity,
  )
  add(
    'long-line',
    long.length,
    `${countOf(long.length, 'message')} over ${formatBytes(longestSdkLine)}, which SDK clients refuse`,
    (row) => entries.size(row) > longestSdkLine,
  )
  return faults
}

function segmentFaults(recording: LoadedRecording): Fault[] {
  const faults: Fault[] = []
  for (const session of recording.fold.sessions) {
    const { segments } = session
    const first = segments[0] ?? 0
    if (first > 0) {
      faults.push({
        code: 'missing-segment',
        count: first,
        message: `it begins with segment ${first}: what came before is not here`,
      })
    }
    for (let i = 1; i < segments.length; i += 1) {
      const missing = segments[i]! - segments[i - 1]! - 1
      if (missing > 0) {
        faults.push({
          code: 'missing-segment',
          count: missing,
          message: `segment ${segments[i - 1]! + 1} is missing`,
        })
      }
    }
    if (session.continues) {
      faults.push({
        code: 'continues',
        count: 1,
        message: 'it goes on in the next segment, which is not here',
      })
    }
  }
  return faults
}

function isMessage(entries: EntryTable, row: number): boolean {
  const kind = entries.kind(row)
  return kind !== 'noise' && kind !== 'stderr' && kind !== 'gap'
}

function firstOf(entries: EntryTable, wanted: (row: number) => boolean, most = shown): number[] {
  const found: number[] = []
  for (let row = 0; row < entries.length && found.length < most; row += 1) {
    if (wanted(row)) found.push(entries.seq(row))
  }
  return found
}
