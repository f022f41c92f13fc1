import type { FilterSubject } from '../../filter/index.js'
import type { Direction } from '../../model/index.js'
import type { FrameText } from '../../wire/index.js'
import type { Decision } from '../decision.js'

/** A frame at the gate, as seen by rules. */
export interface RuleFrame extends FrameText {
  /** Inputs of filters, one per message. A response has the method and the name of its request, if known. */
  readonly subjects: readonly FilterSubject[]
  /**
   * Why a message cannot be forwarded as changed by a rule, if that depends on other traffic.
   *
   * @param part its index
   */
  refusal?(part: number, text: string): string | undefined
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
  decide(frame: RuleFrame): Decision | undefined
}
