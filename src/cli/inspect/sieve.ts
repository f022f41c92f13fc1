import {
  describeFilter,
  matchFilter,
  needsFindings,
  rowSubject,
  type Condition,
  type Filter,
} from '../../filter/index.js'
import { createOrigins, type Fold, type Origin, type Session, type TapeRecord } from '../../model/index.js'
import { filterOption, lastMomentOf } from '../filter-option.js'
import type { FoundRows } from '../found-rows.js'
import type { LinePlace } from '../quick-load.js'
import type { Watcher } from '../recordings.js'
import { createRowIndex, type RowIndex, type Wanted } from './row-index.js'
import type { RowMatter } from './inspect-row.js'

/** Selects the shown rows. */
export interface Sieve {
  readonly keeps: (row: RowMatter) => boolean
  /** The records to read again for the decision. */
  readonly wanted: (fold: Fold) => Wanted
  /** The filter mentions stderr lines, which are otherwise omitted. */
  readonly asksForStderr: boolean
  /** The filter in words. */
  readonly words: string
}

/** A sieve for recordings not loaded yet. */
export interface SieveMaker {
  /** Watches the loading. */
  readonly watch: (fold: Fold) => Watcher
  /** Findings of rules, if the filter needs them. */
  readonly found: FoundRows | undefined
  /** Relative times count back from the end of the recordings. */
  readonly make: (folds: readonly Fold[]) => Sieve
}

/**
 * @param nowMs base of `since:10m`, instead of the end of the recordings
 * @param mayHold whether a line may contain the searched text; called in line order
 * @throws WiretapeError `usage` for an invalid filter
 */
export async function prepareSieve(
  text: string,
  nowMs?: number,
  mayHold?: (place: LinePlace | undefined) => boolean,
): Promise<SieveMaker> {
  const found = await foundFor(filterOption(text))
  const indexes = new Map<Fold, RowIndex>()
  const origins = new Map<Session, ReturnType<typeof createOrigins>>()
  function watch(fold: Fold): Watcher {
    const index = createRowIndex(fold, mayHold)
    indexes.set(fold, index)
    const finding = found?.watch(fold)
    if (!finding) return index
    // Rules need whole records.
    return (record, rows) => {
      index.take(record, rows)
      finding(record, rows)
    }
  }
  function originOf(session: Session, record: TapeRecord): Origin {
    const found = origins.get(session) ?? createOrigins(session)
    origins.set(session, found)
    return found('conversation' in record ? record.conversation : undefined)
  }
  function make(folds: readonly Fold[]): Sieve {
    const filter = filterOption(text, nowMs ?? lastMomentOf(folds))
    return {
      wanted: (fold) => indexes.get(fold)!.wanted(filter, found?.of(fold)),
      asksForStderr: mentionsStderr(filter.condition),
      words: describeFilter(filter),
      keeps({ recording, session, row, record, part, request }) {
        const { entries } = recording.fold
        const transport = session ? originOf(session, record).transport : null
        return matchFilter(
          filter,
          rowSubject({
            entries,
            row,
            record,
            transport,
            ...(part && { part }),
            ...(request && { request }),
            ...(found && { findings: found.of(recording.fold).at(row) }),
          }),
        )
      },
    }
  }
  return { watch, found, make }
}

/** Loads the rules only if the filter needs findings. */
export async function foundFor(filter: Filter): Promise<FoundRows | undefined> {
  if (!needsFindings(filter)) return undefined
  const { checkFindingNames, createFoundRows } = await import('../found-rows.js')
  checkFindingNames(filter)
  return createFoundRows()
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
