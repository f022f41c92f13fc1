import { hasFailed, isUnanswered, type EntryTable } from '../model/index.js'
import type { FilterSubject, SubjectFlag, SubjectStatus } from './subject.js'

/** Facts about a row that come from its columns. */
export abstract class ColumnSubject implements Pick<
  FilterSubject,
  'sequence' | 'status' | 'latencyMs' | 'sizeBytes' | 'is'
> {
  abstract readonly row: number
  protected abstract readonly entries: EntryTable

  get sequence(): number | null {
    const seq = this.entries.seq(this.row)
    return seq < 0 ? null : seq
  }

  get status(): SubjectStatus | null {
    const { entries, row } = this
    const kind = entries.kind(row)
    if (kind === 'result' || kind === 'error') return this.#statusOf(row)
    if (kind !== 'request') return null
    if (entries.has(row, 'cancelled')) return 'cancelled'
    const answer = entries.peer(row)
    if (answer >= 0) return this.#statusOf(answer)
    return isUnanswered(entries, row) ? 'unanswered' : null
  }

  #statusOf(answer: number): SubjectStatus | null {
    const { entries } = this
    if (hasFailed(entries, answer)) return 'error'
    if (entries.has(answer, 'taskOpen')) return null
    return entries.has(answer, 'taskCancelled') ? 'cancelled' : 'ok'
  }

  get latencyMs(): number | null {
    const { entries, row } = this
    const peer = entries.peer(row)
    if (peer < 0) return null
    const us = entries.latencyUs(entries.kind(row) === 'request' ? peer : row)
    return us === undefined ? null : us / 1000
  }

  get sizeBytes(): number {
    return this.entries.size(this.row)
  }

  is(flag: SubjectFlag): boolean {
    const { entries, row } = this
    switch (flag) {
      case 'unanswered':
        return isUnanswered(entries, row)
      case 'error':
        return hasFailed(entries, row) && !entries.has(row, 'repeated')
      case 'tool-error':
        return entries.kind(row) !== 'error' && this.is('error')
      case 'cancelled':
        return entries.has(row, flag) || this.#isOfCancelledTask
      default:
        return entries.has(row, flag)
    }
  }

  get #isOfCancelledTask(): boolean {
    const { entries, row } = this
    const answer = entries.kind(row) === 'request' ? entries.peer(row) : -1
    return answer >= 0 && entries.has(answer, 'taskCancelled')
  }
}
