/** Finds many literals at once: one look-up in a small table per two characters, whatever the number of literals. */

/** Something to look for, of three ASCII characters or more; fewer where `before` or `after` says what is around it. */
export interface Literal {
  readonly literal: string
  /** Upper and lower case differ. */
  readonly exact?: true
  /**
   * One of these characters stands before the literal wherever that begins at an odd index. A rare pair with one of them
   * spares a frequent pair of the literal.
   */
  readonly before?: string
  /** One of these characters stands behind it. */
  readonly after?: string
  /** A character that stands so far from the literal's beginning, which is looked at first. */
  readonly beside?: { readonly at: number; readonly character: string }
}

/** Pairs of letters in English, documentation and JSON, the most frequent ones first. */
const frequent =
  'th re er on es in he or en at an st it te se co nd ha de me ed ne ve ng is no ta le ns nt pe ar li et as ec ro ti ss io of wh ea ts ge tr sa ri ot rs to al be od fi ch ex ou rd so si wi ce di ct un am ad om pa ue ac ag fo rt ap ho ur ol el id ma ul ow ke ut ll il lo ca po ra hi ir ie ev na ic we nc ef op wa la ru ay js ty do ld pt mo xt ds rr os em tt qu oo ep tu sw mb ai pr cl eq if rv nl im nu mp ee us sh ly gi rn ls pl um mi fr cr tp by sp da ht sc lt ry oc eg yp bo ak fu ck wn gr fa yt va su wo ey lu ig ok ab rm iv du rl tc ft nv ms ff ys oe'
const ranks = new Map(frequent.split(' ').map((pair, rank) => [pair, rank]))
const symbols = new Map(
  ['e.', 's.', 't.', '0.', 'd.', 'n.', '//', 'e_', 't-', 'e-', 'n-', '.c', '_m', '-s'].map((pair) => [
    pair,
    6,
  ]),
)

/** How often a look-up finds the pair where nothing is. Base64 holds every pair of letters and digits. */
function costOf(pair: string, exact: true | undefined): number {
  const lower = pair.toLowerCase()
  if (/^[",] |^[",]:|^":|^",|^[a-z][ "]|^[ "][a-z]/.test(lower)) return 20
  if (lower === ': ') return 3
  if (/^[dest]:$/.test(lower)) return 6
  if (/^[0-9]\.|\.[0-9]/.test(lower)) return 8
  if (!/^[a-z0-9+/]{2}$/.test(lower) || lower === '//') return symbols.get(lower) ?? 1
  if (pair === 'AA') return 60
  const rank = pair === lower || !exact ? ranks.get(lower) : undefined
  return (exact ? 3 : 8) + (rank === undefined ? 0 : 4 + (40 * (ranks.size - rank)) / ranks.size)
}

/**
 * The tables by which literals are found. Only pairs at even indices are looked up, so each literal has two pairs in the
 * tables: the rarest at an even, and the rarest at an odd character of it.
 */
export class LiteralPairs<T extends Literal> {
  /** By two characters of seven bits each: how many literals have them. */
  readonly counts = new Uint8Array(1 << 14)
  /** By the same: where those literals begin in the lists below. */
  readonly first = new Uint16Array(1 << 14)
  readonly literals: T[] = []
  /** Of each: at which of its characters the pair is, how far from the pair another one is, and that one's last bits. */
  readonly offsets: Int8Array
  readonly distances: Int8Array
  readonly others: Uint8Array

  constructor(literals: readonly T[]) {
    const byPair = new Map<number, { literal: T; offset: number }[]>()
    for (const literal of literals) {
      for (const parity of [0, 1]) {
        const offset = this.#rarest(literal, parity)
        for (const pair of pairsAt(literal, offset)) {
          const index = indexOf(pair)
          this.counts[index]!++
          byPair.set(index, [...(byPair.get(index) ?? []), { literal, offset }])
        }
      }
    }
    const all = [...byPair.values()].flat()
    this.offsets = new Int8Array(all.length)
    this.distances = new Int8Array(all.length)
    this.others = new Uint8Array(all.length)
    for (const [index, list] of byPair) {
      this.first[index] = this.literals.length
      for (const { literal, offset } of list) {
        const other = literal.beside?.at ?? otherThan(literal, offset)
        const at = this.literals.push(literal) - 1
        this.offsets[at] = offset
        this.distances[at] = other - offset
        this.others[at] = (literal.beside?.character ?? literal.literal.charAt(other)).charCodeAt(0) & 31
      }
    }
  }

  #rarest({ literal, exact, before, after }: T, parity: number): number {
    if (parity === 1 && before !== undefined) return -1
    const last = literal.length - 1
    if ((last & 1) === parity && after !== undefined) return last
    let best = parity
    let least = Infinity
    for (let offset = parity; offset + 2 <= literal.length; offset += 2) {
      const pair = literal.slice(offset, offset + 2)
      // What is looked up for another literal costs nothing more.
      const own = costOf(pair, exact)
      const cost = exact && this.counts[indexOf(pair)] !== 0 ? 1.5 + own / 8 : own
      if (cost < least) [best, least] = [offset, cost]
    }
    return best
  }
}

function indexOf(pair: string): number {
  return (pair.charCodeAt(0) << 7) | pair.charCodeAt(1)
}

function pairsAt({ literal, exact, before = '', after = '' }: Literal, offset: number): string[] {
  if (offset < 0) return Array.from(before, (character) => character + literal.charAt(0))
  if (offset === literal.length - 1)
    return Array.from(after, (character) => literal.charAt(offset) + character)
  return casesOf(literal.slice(offset, offset + 2), exact)
}

/** The index of a character of the literal beside the pair; of the pair where it has no other. */
function otherThan({ literal }: Literal, offset: number): number {
  if (offset > 0) return offset - 1
  return offset + 2 < literal.length ? offset + 2 : 0
}

function casesOf(pair: string, exact: true | undefined): string[] {
  if (exact) return [pair]
  const [a = '', b = ''] = pair
  const all = [a.toLowerCase(), a.toUpperCase()].flatMap((a) => [a + b.toLowerCase(), a + b.toUpperCase()])
  return [...new Set(all)]
}

/** Goes through a text from literal to literal. */
export class LiteralFinder<T extends Literal> {
  readonly #pairs: LiteralPairs<T>

  constructor(literals: readonly T[]) {
    this.#pairs = new LiteralPairs(literals)
  }

  /**
   * Calls `take` for every literal in `text`, in the order of their pairs, which is nearly theirs. A number that it
   * returns is where to go on. Reads each character once.
   */
  each(text: string, take: (literal: T, index: number) => number | undefined): void {
    const { counts, first, literals, offsets, distances, others } = this.#pairs
    const { length } = text
    let from = 0
    for (let i = 0; i < length; i += 2) {
      const index = ((text.charCodeAt(i) & 127) << 7) | (text.charCodeAt(i + 1) & 127)
      const count = counts[index]!
      if (count === 0) continue
      const begin = first[index]!
      for (let n = begin; n < begin + count; n++) {
        // The last five bits are those of both cases.
        if ((text.charCodeAt(i + distances[n]!) & 31) !== others[n]) continue
        const literal = literals[n]!
        const start = i - offsets[n]!
        if (start < from || !isAt(text, literal, start)) continue
        from = Math.max(from, take(literal, start) ?? 0)
      }
      // What was taken need not be looked at.
      if (from > i + 2) i = (from & ~1) - 2
    }
  }
}

function isAt(text: string, { literal, exact }: Literal, start: number): boolean {
  if (exact) return text.startsWith(literal, start)
  return text.slice(start, start + literal.length).toLowerCase() === literal
}
