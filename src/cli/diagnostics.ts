import type { Diagnostic } from '../model/index.js'

/** `, line 3, column 7`, or nothing when the place is not known. */
export function placeOf(diagnostic: Diagnostic): string {
  const { line, column } = diagnostic.at ?? {}
  return `${line === undefined ? '' : `, line ${line}`}${column === undefined ? '' : `, column ${column}`}`
}
