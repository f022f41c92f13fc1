import type { Direction, MessageRecord } from '../model/index.js'
import type { Difference } from './json-diff.js'
import type { SubjectLatency } from './latency.js'
import type { OfferChange } from './offer-change.js'
import type { RecordingIndex } from './recording-index.js'
import type { Varied } from './tolerance.js'
import type { Verdict } from './verdict.js'

/** A recording to compare: its index, and a way to its records. */
export interface ComparedRecording {
  readonly index: RecordingIndex
  /** The record that was taken with this locator. */
  read(locator: number): Promise<MessageRecord>
}

/** One side of an exchange that was compared. */
export interface ExchangeSide {
  /** Number of the request in its recording. */
  readonly seq: number
  /** Number of the answer; absent when there was none. */
  readonly answerSeq?: number
  readonly latencyUs?: number
  /** What went wrong, in a line, when the answer is an error. */
  readonly failure?: string
}

/** What became of one exchange, and how. */
export interface ExchangeComparison {
  readonly verdict: Verdict
  /** Which of several replays it is of, from 1 on. */
  readonly run?: number
  /** The saved call that it is of. */
  readonly call?: { readonly file: string; readonly line: number; readonly name: string }
  readonly method: string
  /** Tool or prompt name, resource URI. */
  readonly name?: string
  readonly direction: Direction
  /** Exact text of `params`, of the old side where there is one; absent of what is the same. */
  readonly params?: string
  readonly before?: ExchangeSide
  readonly after?: ExchangeSide
  readonly differences: readonly Difference[]
  /** Differences beyond those that are listed. */
  readonly more: number
  readonly schemaFaults: readonly string[]
  /** Where a result does not fit its tool's `outputSchema`, as the old one did not: no change. */
  readonly knownFaults?: readonly string[]
  /** Values that are not the same, and no difference, since every run makes its own. */
  readonly varied?: readonly Varied[]
  /** What else there is to know, such as why it was not sent. */
  readonly notes?: readonly string[]
}

/** What is known when all exchanges were compared. */
export interface ComparisonSummary {
  readonly counts: Readonly<Record<Verdict, number>>
  readonly offers: readonly OfferChange[]
  readonly latency: readonly SubjectLatency[]
  /** Nothing differs that counts. */
  readonly same: boolean
  /** Why a replay ended before its time. */
  readonly stopped?: string
  /** What else a person may want to know; it counts for nothing. */
  readonly notes?: readonly string[]
  /** How many values varied by themselves and made no difference, by kind. */
  readonly varied?: Readonly<Record<string, number>>
  /** The file of rules that took part, and how many differences do not count because of it. */
  readonly compareFile?: { readonly name: string; readonly hidden: number }
}
