import type { Direction, MessageRecord } from '../model/index.js'
import type { Difference } from './json-diff.js'
import type { SubjectLatency } from './latency.js'
import type { OfferChange } from './offer-change.js'
import type { RecordingIndex } from './recording-index.js'
import type { Varied } from './tolerance.js'
import type { Verdict } from './verdict.js'

/** A recording to compare: its index, and access to its records. */
export interface ComparedRecording {
  readonly index: RecordingIndex
  /** The record that was indexed with this locator. */
  read(locator: number): Promise<MessageRecord>
}

/** One side of a compared exchange. */
export interface ExchangeSide {
  /** Message number of the request. */
  readonly seq: number
  /** Message number of the response; absent if there was none. */
  readonly answerSeq?: number
  readonly latencyUs?: number
  /** Description of an error response, in one line. */
  readonly failure?: string
}

/** Verdict on one exchange, with details. */
export interface ExchangeComparison {
  readonly verdict: Verdict
  /** Which of several replays it belongs to, from 1 on. */
  readonly run?: number
  /** The saved call it belongs to. */
  readonly call?: { readonly file: string; readonly line: number; readonly name: string }
  readonly method: string
  /** Tool or prompt name, resource URI. */
  readonly name?: string
  readonly direction: Direction
  /** Exact text of `params`, of the old side if it has the request; absent for equal exchanges. */
  readonly params?: string
  readonly before?: ExchangeSide
  readonly after?: ExchangeSide
  readonly differences: readonly Difference[]
  /** Number of differences not listed. */
  readonly more: number
  readonly schemaFaults: readonly string[]
  /** Where a result violates its tool's `outputSchema` as the old one did: not a change. */
  readonly knownFaults?: readonly string[]
  /** Values that differ but do not count, since every run generates its own. */
  readonly varied?: readonly Varied[]
  /** Further information, such as why it was not sent. */
  readonly notes?: readonly string[]
}

/** Summary after all exchanges were compared. */
export interface ComparisonSummary {
  readonly counts: Readonly<Record<Verdict, number>>
  readonly offers: readonly OfferChange[]
  readonly latency: readonly SubjectLatency[]
  /** No difference that counts. */
  readonly same: boolean
  /** Why a replay ended early. */
  readonly stopped?: string
  /** Further information for people; does not affect the outcome. */
  readonly notes?: readonly string[]
  /** Number of generated values that differed without counting as a difference, by kind. */
  readonly varied?: Readonly<Record<string, number>>
  /** The rules file in use, and how many differences it hides. */
  readonly compareFile?: { readonly name: string; readonly hidden: number }
}
