/** Finds many literals at once: one lookup in a small table per two characters, for any number of literals. */
import type { Literal } from './literal.js'
import { makeTables, pairOf, type LiteralTables } from './literal-tables.js'

/**
 * The tables for finding literals. Only pairs at even indices are looked up, so each literal has two pairs in the
 * tables: the rarest one at an even and the rarest one at an odd offset. Each is combined with a neighbouring pair, of
 * the literal or of one of its characters and any other. A position is examined only if both pairs are present.
 */
export class LiteralPairs<T extends Literal> {
  /**
   * By two characters of seven bits each, one bit for each of eight groups of literals. Lower byte: the pair is the
   * first of the two for some literal of the group. Upper byte: it is the second.
   */
  readonly groups: Uint16Array
  /** By the same index: the number of literals in the lists below, and the index of the first. */
  readonly counts: Uint8Array
  readonly first: Uint16Array
  readonly literals: readonly T[]
  /** For each literal: the pair's offset in it, the distance to another character, and that character's low bits. */
  readonly offsets: Int8Array
  readonly distances: Int8Array
  readonly others: Uint8Array

  /** @param tables those of the literals; made now if undefined */
  constructor(literals: readonly T[], tables: LiteralTables = makeTables(literals)) {
    this.groups = tables.groups
    this.counts = tables.counts
    this.first = tables.first
    this.literals = Array.from(tables.order, (index) => literals[index]!)
    this.offsets = tables.offsets
    this.distances = tables.distances
    this.others = tables.others
  }
}

/** Finds all literals in a text, one after the other. */
export class LiteralFinder<T extends Literal> {
  readonly #wanted: readonly T[]
  readonly #tables: () => LiteralTables | undefined
  /** Created for the first text. */
  #made: LiteralPairs<T> | undefined

  /** @param tables those of the literals, if they were made before */
  constructor(literals: readonly T[], tables: () => LiteralTables | undefined = () => undefined) {
    this.#wanted = literals
    this.#tables = tables
  }

  /** Creates the tables, unless a text was searched already. */
  prepare(): void {
    void this.#pairs
  }

  get #pairs(): LiteralPairs<T> {
    return (this.#made ??= new LiteralPairs(this.#wanted, this.#tables()))
  }

  /**
   * Calls `take` for every literal in `text` that begins before `until`, in the order of their pairs, which is nearly
   * their own. If it returns a number, the search continues there. Reads each character once.
   */
  each(text: string, until: number, take: (literal: T, index: number) => number | undefined): void {
    const { groups } = this.#pairs
    const length = Math.min(text.length, until)
    let from = 0
    let before = 0
    let known = allGroups
    for (let i = 0; i < length + 2; i += 2) {
      const a = text.charCodeAt(i)
      const b = text.charCodeAt(i + 1)
      const pair = pairOf(a < 128 ? a : 0, b < 128 ? b : 0)
      const group = groups[pair]!
      if ((known & (group >> 8)) !== 0) {
        from = this.#around(text, i - 2, before, from, take)
        from = this.#around(text, i, pair, from, take)
      }
      known = group
      before = pair
      // Skips the literals just taken.
      if (from > i + 2) {
        i = (from & ~1) - 2
        known = allGroups
        before = 0
      }
    }
  }

  /** Takes the literals around the pair at `index`. Returns where to continue. */
  #around(
    text: string,
    index: number,
    pair: number,
    from: number,
    take: (literal: T, index: number) => number | undefined,
  ): number {
    const { counts, first, literals, offsets, distances, others } = this.#pairs
    const begin = first[pair]!
    const end = begin + counts[pair]!
    let next = from
    for (let n = begin; n < end; n++) {
      // The last five bits are equal in both cases.
      if ((text.charCodeAt(index + distances[n]!) & 31) !== others[n]) continue
      const literal = literals[n]!
      const start = index - offsets[n]!
      if (start < next || !isAt(text, literal, start)) continue
      next = Math.max(next, take(literal, start) ?? 0)
    }
    return next
  }
}

/** For when the preceding text is unknown. */
export const allGroups = 255

function isAt(text: string, { literal, exact }: Literal, start: number): boolean {
  if (exact) return text.startsWith(literal, start)
  return text.slice(start, start + literal.length).toLowerCase() === literal
}
