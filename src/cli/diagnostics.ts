import type { Diagnostic } from '../model/index.js'

/** `, line 3, column 7`, or empty if the place is unknown. */
export function placeOf(diagnostic: Diagnostic): string {
  const { line, column } = diagnostic.at ?? {}
  return `${line === undefined ? '' : `, line ${line}`}${column === undefined ? '' : `, column ${column}`}`
}
