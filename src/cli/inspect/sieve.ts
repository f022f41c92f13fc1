import { describeFilter, matchFilter, rowSubject, type Condition } from '../../filter/index.js'
import type { Fold } from '../../model/index.js'
import { filterOption, lastMomentOf } from '../filter-option.js'
import type { RowMatter } from './rows.js'

/** Which rows are shown. */
export interface Sieve {
  keeps(row: RowMatter): boolean
  /** The filter speaks of lines of stderr, which are otherwise left out. */
  readonly asksForStderr: boolean
  /** The filter in words. */
  readonly words: string
}

/**
 * A sieve for recordings that are loaded later: how long ago something was counts back from their end.
 *
 * @throws WiretapeError `usage` for a filter that makes no sense
 */
export function prepareSieve(text: string): (folds: readonly Fold[]) => Sieve {
  filterOption(text)
  return (folds) => {
    const filter = filterOption(text, lastMomentOf(folds))
    return {
      asksForStderr: mentionsStderr(filter.condition),
      words: describeFilter(filter),
      keeps({ recording, session, row, record, part, request }) {
        const { entries } = recording.fold
        const transport = session?.transport ?? null
        return matchFilter(
          filter,
          rowSubject({ entries, row, record, transport, ...(part && { part }), ...(request && { request }) }),
        )
      },
    }
  }
}

function mentionsStderr(condition: Condition): boolean {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return condition.of.some(mentionsStderr)
    case 'flag':
      return condition.flag === 'stderr'
    default:
      return false
  }
}
