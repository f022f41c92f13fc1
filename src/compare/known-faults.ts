import type { ComparisonSummary, ExchangeComparison } from './comparison.js'
import { truncate } from '../render/index.js'
import { titleOf } from './describe.js'

const longestSample = 200

/** Counts results that violate their schema as the old ones did. */
export interface KnownFaults {
  take(exchange: ExchangeComparison): void
  /** A note, if there were any. */
  notes(): readonly string[]
}

export function createKnownFaults(): KnownFaults {
  let count = 0
  let first = ''
  return {
    take(exchange) {
      const [fault] = exchange.knownFaults ?? []
      if (fault === undefined) return
      count += 1
      // Member names come from the other side, and may be long.
      if (count === 1) first = truncate(`${titleOf(exchange)}: ${fault}`, longestSample)
    },
    notes() {
      if (count === 0) return []
      const what =
        count === 1
          ? '1 result still does not match the outputSchema of its tool'
          : `${count} results still do not match the outputSchema of their tools`
      return [`${what}${count === 1 ? '' : ', first'}: ${first}`]
    },
  }
}

/** Joins the notes of a comparison, for its summary. */
export function notesIn(...notes: readonly (readonly string[])[]): Pick<ComparisonSummary, 'notes'> {
  const all = notes.flat()
  return all.length > 0 ? { notes: all } : {}
}
