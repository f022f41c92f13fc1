import type { FilterSubject } from '../../filter/index.js'
import type { Direction } from '../../model/index.js'

/** A frame at the gate, as rules see it. */
export interface RuleFrame {
  /** Exact JSON text: a message, or a batch. */
  readonly raw: string
  readonly batch: boolean
  /** In the order of the text; one unless it is a batch. */
  readonly parts: readonly RulePart[]
  /**
   * Why a message of it cannot go on as a rule has changed it, where that depends on what else is on its way.
   *
   * @param part its place
   */
  refusal?(part: number, text: string): string | undefined
}

/** One message of a frame. */
export interface RulePart {
  /** Where it stands in `raw`, in UTF-16 code units, end exclusive. */
  readonly start: number
  readonly end: number
  /** What filters look at. An answer has the method and the name of its request, where that is known. */
  readonly subject: FilterSubject
}

/** What becomes of a frame. */
export type RuleVerdict =
  /** It is passed on, as `text` where there is one. */
  | 'forward'
  /** It waits for a person, who is shown `text` where there is one. */
  | 'hold'
  /** It goes nowhere. */
  | 'drop'
  /** It goes nowhere, and whoever sent it gets `answers`. */
  | 'answer'
  /** It goes nowhere, and the connection that it came on is closed. */
  | 'disconnect'

export interface RuleDecision {
  /** Names of the rules that were applied, in their order: what the tape's `rule` says. */
  readonly rule: string
  readonly verdict: RuleVerdict
  /** What takes the place of `raw`: exact JSON text on one line. Absent when nothing was changed. */
  readonly text?: string
  /** Of a batch that lost elements: the places, before, of those that are left. */
  readonly kept?: readonly number[]
  /** To wait before it is passed on, dropped, answered or disconnected. 0 for not at all. */
  readonly delayMs: number
  /** How often it is passed on besides: 0 for once only. */
  readonly copies: number
  /**
   * JSON text of answers that go back to the sender in the other side's place: one, unless elements of a batch were
   * answered. May come with `forward`, when only some elements of a batch were.
   */
  readonly answers: readonly string[]
  /** For people: why it was dropped, answered or replaced by an error, where a rule could not be applied. */
  readonly problem?: string
}

/** Rules in force. Every frame that may concern them is to be shown to them once, in the order of arrival: they count. */
export interface Rules {
  /** In their order. */
  readonly names: readonly string[]
  /**
   * Whether a frame has to be shown to `decide`: false when a look at its bytes tells that no rule is about it. Cheap.
   *
   * @param bytes the bytes of the frame as Latin-1, each a character
   */
  mayConcern(bytes: string, direction: Direction): boolean
  /** Undefined, as for most: no rule is about it. Never throws. */
  decide(frame: RuleFrame): RuleDecision | undefined
}
