import type { ExchangeComparison } from './comparison.js'

/** Explains on an exchange why its responses were not compared. */
export const ownAnswerNote = 'not compared: the response came from wiretape or a person, not from the server'

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
      if (count === 1)
        return ['1 response was not compared: it came from wiretape or a person, not from the server']
      return [
        `${count} responses were not compared: they came from wiretape or a person, not from the server`,
      ]
    },
  }
}

/** A note if a recording's responses come from several server processes. */
export function restartNotes(of: string, restarts: number): readonly string[] {
  if (restarts === 0) return []
  const times = restarts === 1 ? 'once' : `${restarts} times`
  return [`the server was restarted ${times} ${of}: earlier responses may come from an older version`]
}
