/** What a file says it is a part of; of other recorders a session of its own. */
export interface Place {
  readonly session: string | undefined
  readonly segment: number
}

/**
 * The files of each recording, in the order of their segments. A file with a segment that its session has
 * already, such as a copy, is a recording of its own.
 */
export function joinSegments<T>(files: readonly T[], placeOf: (file: T) => Place): T[][] {
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
  return groups.map((group) => [...group].toSorted(([a], [b]) => a - b).map(([, file]) => file))
}
