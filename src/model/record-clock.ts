import { isMeasurable } from './measurable.js'
import { noTime } from './session.js'
import { Times } from './times.js'

/** Computes the time of records since the start of their session. */
export class RecordClock {
  #startMs = NaN
  #isTimed = true
  readonly #times = new Times()

  /** @param startedAt ISO 8601, or `noTime` */
  begin(startedAt: string): void {
    this.#startMs = Date.parse(startedAt)
    this.#isTimed = startedAt !== noTime
  }

  /**
   * Microseconds since the start: the recorder's own value, or else from the wall clock, the only time that other
   * recorders write. 0 for an invalid time; undefined where the recording has no times.
   */
  usOf(record: { readonly t?: string; readonly us?: number }): number | undefined {
    if (record.us !== undefined && isMeasurable(record.us)) return record.us
    const { t = '' } = record
    if (!this.#isTimed && t === noTime) return undefined
    const us = (this.#times.parse(t) - this.#startMs) * 1000
    return isMeasurable(us) ? us : 0
  }
}
