import type { Finding } from './finding.js'

/** Findings of one recording, by row. */
export interface FindingsByRow {
  at(row: number): readonly Finding[]
}

const none: readonly Finding[] = []

/** A snapshot: later findings are not included. */
export function findingsByRow(found: readonly Finding[]): FindingsByRow {
  const rows = new Map<number, Finding[]>()
  for (const finding of found) {
    for (const row of new Set(finding.rows)) {
      const known = rows.get(row)
      if (known) known.push(finding)
      else rows.set(row, [finding])
    }
  }
  return { at: (row) => rows.get(row) ?? none }
}
