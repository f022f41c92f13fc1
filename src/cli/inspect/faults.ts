import { isMessageKind, isUnanswered, type EntryTable, type Session } from '../../model/index.js'
import { countOf, formatBytes } from '../../render/index.js'
import { placeOf } from '../diagnostics.js'
import { missingSegments } from '../missing-segments.js'
import type { LoadedRecording } from '../recordings.js'

/** SDK clients refuse longer stdio lines. */
const longestSdkLine = 10 * 1024 * 1024

/** A problem of a recording or of the recorded traffic. */
export interface Fault {
  readonly code: string
  /** Message for people, not escaped. */
  readonly message: string
  /** First message numbers. */
  readonly messages?: readonly number[]
  readonly count: number
  /** The rule of `check` that finds the same. */
  readonly rule?: string
}

const ruleOf: Readonly<Record<string, string>> = {
  unanswered: 'protocol/unanswered',
  late: 'protocol/second-response',
  orphan: 'protocol/stray-response',
  'duplicate-id': 'protocol/reused-id',
  invalid: 'protocol/invalid-message',
  noise: 'protocol/stray-output',
  'long-line': 'protocol/long-line',
}

/** Message numbers per fault. */
const named = 10

/** All faults for `--check`; empty without any. */
export function faultsOf(recording: LoadedRecording): Fault[] {
  return [
    ...fileFaults(recording),
    ...recording.fold.sessions.flatMap((s) => segmentFaults(s, recording)),
    ...messageFaults(recording),
  ]
}

function fileFaults({ problems, problemCount, files }: LoadedRecording): Fault[] {
  const faults: Fault[] = problems.map((problem) => {
    const place = placeOf(problem)
    const where = files.length > 1 ? `${problem.file}${place}: ` : place === '' ? '' : `${place.slice(2)}: `
    return { code: problem.code, message: `${where}${problem.message}`, count: 1 }
  })
  const more = problemCount - problems.length
  if (more > 0)
    faults.push({ code: 'more', message: `${countOf(more, 'more line')} with problems`, count: more })
  return faults
}

function segmentFaults(session: Session, { files }: LoadedRecording): Fault[] {
  return missingSegments(session, files[0]!.name).map((missing) => ({ code: 'missing-segment', ...missing }))
}

function messageFaults({ fold }: LoadedRecording): Fault[] {
  const { entries } = fold
  const counts = fold.counts()
  const faults: Fault[] = []
  const add = (code: string, count: number, message: string, rows?: (row: number) => boolean): void => {
    if (count === 0) return
    const rule = ruleOf[code]
    faults.push({
      code,
      count,
      message,
      ...(rows && { messages: firstOf(entries, rows) }),
      ...(rule !== undefined && { rule }),
    })
  }
  const flag = (name: 'late' | 'orphan' | 'duplicate' | 'undelivered') => (row: number) =>
    entries.has(row, name)
  const is = (count: number): string => (count === 1 ? 'is' : 'are')
  const has = (count: number): string => (count === 1 ? 'has' : 'have')

  const lost = `${countOf(counts.lost, 'message')} passed unrecorded`
  add('gap', counts.gaps, `${countOf(counts.gaps, 'gap')}: ${lost}`)
  const unanswered = `${countOf(counts.unanswered, 'request')} ${has(counts.unanswered)} no response`
  add('unanswered', counts.unanswered, unanswered, (row) => isUnanswered(entries, row))
  const late = `${countOf(counts.late, 'response')} to ${counts.late === 1 ? 'a request that was' : 'requests that were'} already answered`
  add('late', counts.late, late, flag('late'))
  const orphans = `${countOf(counts.orphans, 'response')} ${counts.orphans === 1 ? 'belongs' : 'belong'} to no request in this recording`
  add('orphan', counts.orphans, orphans, flag('orphan'))
  const duplicates = `${countOf(counts.duplicates, 'request')} ${has(counts.duplicates)} the id of another open request`
  add('duplicate-id', counts.duplicates, duplicates, flag('duplicate'))
  const undelivered = `${countOf(counts.undelivered, 'message')} ${counts.undelivered === 1 ? 'was' : 'were'} not delivered`
  add('undelivered', counts.undelivered, undelivered, flag('undelivered'))
  const invalid = `${countOf(counts.invalid, 'message')} ${is(counts.invalid)} JSON but not JSON-RPC`
  add('invalid', counts.invalid, invalid, (row) => entries.kind(row) === 'invalid')
  const noise = `${countOf(counts.noise, 'line')} ${is(counts.noise)} not JSON: many clients fail on it`
  add('noise', counts.noise, noise)
  const isLong = (row: number): boolean => isMessage(entries, row) && entries.size(row) > longestSdkLine
  const long = countRows(entries, isLong)
  const size = formatBytes(longestSdkLine)
  add('long-line', long, `${countOf(long, 'message')} over ${size}: SDK clients reject such lines`, isLong)
  return faults
}

function isMessage(entries: EntryTable, row: number): boolean {
  return isMessageKind(entries.kind(row))
}

function countRows(entries: EntryTable, wanted: (row: number) => boolean): number {
  let count = 0
  for (let row = 0; row < entries.length; row += 1) if (wanted(row)) count += 1
  return count
}

function firstOf(entries: EntryTable, wanted: (row: number) => boolean): number[] {
  const found: number[] = []
  for (let row = 0; row < entries.length && found.length < named; row += 1) {
    if (wanted(row)) found.push(entries.seq(row))
  }
  return found
}
