import type { ExchangeComparison } from './comparison.js'

/** Explains on an exchange why its responses were not compared. */
export const ownAnswerNote = 'not compared: wiretape or a person answered it, not the server'

/** Counts exchanges that were not compared because their response is not the server's. */
export interface OwnAnswers {
  take(exchange: ExchangeComparison): void
  /** A note, if there were any. */
  notes(): readonly string[]
}

export function createOwnAnswers(): OwnAnswers {
  let count = 0
  return {
    take({ notes }) {
      if (notes?.includes(ownAnswerNote) === true) count += 1
    },
    notes() {
      if (count === 0) return []
      if (count === 1) return ['1 answer was not compared: wiretape or a person gave it, not the server']
      return [`${count} answers were not compared: wiretape or a person gave them, not the server`]
    },
  }
}

/** A note if a recording's responses come from several server processes. */
export function restartNotes(of: string, restarts: number): readonly string[] {
  if (restarts === 0) return []
  const times = restarts === 1 ? 'once' : `${restarts} times`
  return [`the server was restarted ${times} ${of}: earlier answers may be those of an older version`]
}
