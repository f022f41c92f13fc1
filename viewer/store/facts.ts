import { table } from './state.js'

/** As `isUnanswered` of the model, over the page's columns. */
export function isUnansweredRow(row: number): boolean {
  return (
    table.kind(row) === 'request' &&
    !table.has(row, 'answered') &&
    !table.has(row, 'cancelled') &&
    !table.has(row, 'duplicate') &&
    !table.has(row, 'stream')
  )
}
