import type { ExchangeComparison } from './comparison.js'

/** Says on an exchange why its answers were not compared. */
export const ownAnswerNote = 'not compared: wiretape or a person answered it, not the server'

/** Counts exchanges that were not compared since the server did not answer them. */
export interface OwnAnswers {
  take(exchange: ExchangeComparison): void
  /** A note, if there is something to note. */
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

/** Tells that the answers of one recording are of several processes of its server, in a note, if they are. */
export function restartNotes(of: string, restarts: number): readonly string[] {
  if (restarts === 0) return []
  const times = restarts === 1 ? 'once' : `${restarts} times`
  return [`the server was restarted ${times} ${of}: earlier answers may be those of an older version`]
}
