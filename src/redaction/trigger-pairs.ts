import { LiteralPairs } from './literal-finder.js'
import type { LiteralTables } from './literal-tables.js'
import type { Literal } from './literal.js'

/** A literal whose presence means that the default rules must read a text. */
export interface Trigger extends Literal {
  /** Checks the surroundings of the literal that begins at `start`; the encoded text ends at `end`. */
  readonly confirm?: (bytes: Uint8Array, start: number, end: number, length: number) => boolean
}

export type Compiled = Trigger & { readonly bytes: Uint8Array }

/** The tables for finding triggers in bytes. */
export class TriggerPairs extends LiteralPairs<Compiled> {
  /** `groups` by two bytes as they are in memory, without their highest bits: one operation makes the index. */
  readonly groupsByBytes = new Uint16Array(1 << 15)

  constructor(triggers: readonly Trigger[], tables?: LiteralTables) {
    super(triggers.map(compiled), tables)
    for (let row = 0; row < 128; row += 1)
      this.groupsByBytes.set(this.groups.subarray(128 * row, 128 * (row + 1)), 256 * row)
  }
}

const encoder = new TextEncoder()

function compiled(trigger: Trigger): Compiled {
  return {
    ...trigger,
    bytes: encoder.encode(trigger.exact ? trigger.literal : trigger.literal.toLowerCase()),
  }
}
