import type { FilterSubject } from '../../filter/index.js'
import type { Direction } from '../../model/index.js'

/** A frame at the gate, as seen by rules. */
export interface RuleFrame {
  /** Exact JSON text: a message, or a batch. */
  readonly raw: string
  readonly batch: boolean
  /** In text order; one part unless it is a batch. */
  readonly parts: readonly RulePart[]
  /**
   * Why a message cannot be forwarded as changed by a rule, if that depends on other traffic.
   *
   * @param part its index
   */
  refusal?(part: number, text: string): string | undefined
}

/** One message of a frame. */
export interface RulePart {
  /** Position in `raw`, in UTF-16 code units, end exclusive. */
  readonly start: number
  readonly end: number
  /** Input of filters. A response has the method and the name of its request, if known. */
  readonly subject: FilterSubject
}

/** Decision about a frame. */
export type RuleVerdict =
  /** Forward it, as `text` if given. */
  | 'forward'
  /** Hold it for a person, who sees `text` if given. */
  | 'hold'
  /** Drop it. */
  | 'drop'
  /** Drop it; its sender gets `answers`. */
  | 'answer'
  /** Drop it, and close its connection. */
  | 'disconnect'

export interface RuleDecision {
  /** Names of the applied rules, in order: the tape's `rule`. */
  readonly rule: string
  readonly verdict: RuleVerdict
  /** Replacement of `raw`: exact JSON text on one line. Absent if nothing changed. */
  readonly text?: string
  /** For a batch that lost elements: original indexes of the remaining ones. */
  readonly kept?: readonly number[]
  /** Delay before it is forwarded, dropped, answered or disconnected. 0 for none. */
  readonly delayMs: number
  /** Number of additional copies. */
  readonly copies: number
  /**
   * JSON texts of responses to the sender, in place of the other side's: one, unless several elements of a batch were
   * answered. Present with `forward` if only some elements of a batch were answered.
   */
  readonly answers: readonly string[]
  /** For people: why it was dropped, answered or replaced by an error, if a rule could not be applied. */
  readonly problem?: string
}

/** Rules in force. Show them each frame that may concern them once, in the order of arrival: rules count frames. */
export interface Rules {
  /** In file order. */
  readonly names: readonly string[]
  /**
   * Whether a frame must be passed to `decide`: false if its bytes show that no rule applies. Cheap.
   *
   * @param bytes the frame's bytes as Latin-1, one character per byte
   */
  mayConcern(bytes: string, direction: Direction): boolean
  /** Undefined if no rule applies, as for most frames. Never throws. */
  decide(frame: RuleFrame): RuleDecision | undefined
}
