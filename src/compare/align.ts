import type { RecordingIndex } from './recording-index.js'

/** Rows of equivalent requests; one is undefined if the other recording has no such request. */
export interface RequestPair {
  readonly before: number | undefined
  readonly after: number | undefined
}

/** Pairs of equivalent requests in the old and the new recording. */
export interface Alignment {
  /** In the order of the old recording; new requests stand where they were sent. */
  pairs(): Generator<RequestPair, void, undefined>
  /** The new row for a row of the old recording. */
  partnerOf(before: number): number | undefined
  /** Rows without a partner, by subject. */
  unpaired(): { before: number[]; after: number[] }
  pair(before: number, after: number): void
}

/**
 * Requests are equivalent if side, method, name and arguments match; repeated ones are paired in order. Different
 * requests may come in another order.
 */
export function alignRequests(before: RecordingIndex, after: RecordingIndex): Alignment {
  const subjects = sharedSubjects(before, after)
  const [a, b] = [sorted(before, subjects.before), sorted(after, subjects.after)]
  const partner = new Int32Array(before.entries.length).fill(-1)
  const taken = new Uint8Array(after.entries.length)
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const order = compareKeys(before, subjects.before, a[i]!, after, subjects.after, b[j]!)
    if (order === 0) {
      partner[a[i]!] = b[j]!
      taken[b[j]!] = 1
    }
    if (order <= 0) i += 1
    if (order >= 0) j += 1
  }
  return {
    pair(row, other) {
      partner[row] = other
      taken[other] = 1
    },
    partnerOf(row) {
      const other = partner[row] ?? -1
      return other < 0 ? undefined : other
    },
    unpaired: () => ({
      before: [...before.requests].filter((row) => partner[row] === -1),
      after: [...after.requests].filter((row) => taken[row] === 0),
    }),
    *pairs() {
      let next = 0
      function* newUntil(row: number): Generator<RequestPair, void, undefined> {
        for (; next < after.requests.length && after.requests[next]! < row; next += 1) {
          const other = after.requests[next]!
          if (taken[other] === 0) yield { before: undefined, after: other }
        }
      }
      for (const row of before.requests) {
        const other = partner[row]!
        if (other >= 0) yield* newUntil(other)
        yield { before: row, after: other < 0 ? undefined : other }
      }
      yield* newUntil(Infinity)
    },
  }
}

/** Numbers the subjects of both recordings together. */
function sharedSubjects(
  before: RecordingIndex,
  after: RecordingIndex,
): { before: Int32Array; after: Int32Array } {
  const numbers = new Map<string, number>()
  const number = (index: RecordingIndex): Int32Array =>
    Int32Array.from(index.subjects, (subject) => {
      const key = JSON.stringify([subject.direction, subject.method, subject.name])
      const known = numbers.get(key) ?? numbers.size
      numbers.set(key, known)
      return known
    })
  return { before: number(before), after: number(after) }
}

function sorted(index: RecordingIndex, subjects: Int32Array): Int32Array {
  return index.requests
    .slice()
    .sort((row, other) => compareKeys(index, subjects, row, index, subjects, other) || row - other)
}

function compareKeys(
  index: RecordingIndex,
  subjects: Int32Array,
  row: number,
  otherIndex: RecordingIndex,
  otherSubjects: Int32Array,
  other: number,
): number {
  const bySubject = subjects[index.subjectOf(row)]! - otherSubjects[otherIndex.subjectOf(other)]!
  if (bySubject !== 0) return bySubject
  const [first, second] = index.key(row)
  const [otherFirst, otherSecond] = otherIndex.key(other)
  return Math.sign(first - otherFirst) || Math.sign(second - otherSecond)
}
