/** Finds many literals at once: one lookup in a small table per two characters, for any number of literals. */

/** A literal of at least three ASCII characters; fewer if `before` or `after` gives its surroundings. */
export interface Literal {
  readonly literal: string
  /** Case-sensitive. */
  readonly exact?: true
  /**
   * One of these characters precedes the literal wherever it begins at an odd index. A rare pair with one of them
   * avoids a frequent pair of the literal.
   */
  readonly before?: string
  /** One of these characters follows the literal. */
  readonly after?: string
  /** A character at this distance from the literal's beginning, which is checked first. */
  readonly beside?: { readonly at: number; readonly character: string }
}

/** Pairs of letters in English, documentation and JSON, most frequent first. */
const frequent =
  'th re er on es in he or en at an st it te se co nd ha de me ed ne ve ng is no ta le ns nt pe ar li et as ec ro ti ss io of wh ea ts ge tr sa ri ot rs to al be od fi ch ex ou rd so si wi ce di ct un am ad om pa ue ac ag fo rt ap ho ur ol el id ma ul ow ke ut ll il lo ca po ra hi ir ie ev na ic we nc ef op wa la ru ay js ty do ld pt mo xt ds rr os em tt qu oo ep tu sw mb ai pr cl eq if rv nl im nu mp ee us sh ly gi rn ls pl um mi fr cr tp by sp da ht sc lt ry oc eg yp bo ak fu ck wn gr fa yt va su wo ey lu ig ok ab rm iv du rl tc ft nv ms ff ys oe'
const ranks = new Map(frequent.split(' ').map((pair, rank) => [pair, rank]))
const symbols = new Map(
  ['e.', 's.', 't.', '0.', 'd.', 'n.', '//', 't-', 'e-', 'n-', '.c', '_m', '-s'].map((pair) => [pair, 6]),
)

const exactCost = remembered((pair) => costOf(pair, true))
const foldedCost = remembered((pair) => costOf(pair, undefined))

/** How often a lookup finds the pair without a literal. Base64 contains every pair of letters and digits. */
function costOf(pair: string, exact: true | undefined): number {
  const lower = pair.toLowerCase()
  if (/^[",] |^[",]:|^":|^",|^[a-z][ "]|^[ "][a-z]/.test(lower)) return 20
  if (lower === ': ') return 3
  if (/^[dest]:$/.test(lower)) return 6
  if (/^[0-9]\.|\.[0-9]/.test(lower)) return 8
  if (!/^[a-z0-9+/]{2}$/.test(lower) || lower === '//') return lower === 'e_' ? 30 : (symbols.get(lower) ?? 1)
  if (pair === 'AA') return 60
  const rank = pair === lower || !exact ? ranks.get(lower) : undefined
  return (exact ? 3 : 8) + (rank === undefined ? 0 : 4 + (40 * (ranks.size - rank)) / ranks.size)
}

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
  readonly groups = new Uint16Array(1 << 14)
  /** By the same index: the number of literals in the lists below, and the index of the first. */
  readonly counts = new Uint8Array(1 << 14)
  readonly first = new Uint16Array(1 << 14)
  readonly literals: T[] = []
  /** For each literal: the pair's offset in it, the distance to another character, and that character's low bits. */
  readonly offsets: Int8Array
  readonly distances: Int8Array
  readonly others: Uint8Array
  #anyBefore = false
  /** By the first and by the second character of a pair: groups that contain it with any other character. */
  readonly #anySecond = new Uint16Array(128)
  readonly #anyFirst = new Uint16Array(128)
  /** For each group, the share of a text covered by its first, and by its second pairs. */
  readonly #shares = Array.from({ length: 8 }, () => ({ first: 0, second: 0 }))

  constructor(literals: readonly T[]) {
    const byPair = new Map<number, { literal: T; offset: number }[]>()
    for (const literal of literals) {
      for (const parity of [0, 1]) {
        const offset = this.#rarest(literal, parity)
        for (const pair of pairsAt(literal, offset)) {
          this.counts[pair]!++
          const list = byPair.get(pair)
          if (list) list.push({ literal, offset })
          else byPair.set(pair, [{ literal, offset }])
        }
        this.#group(literal, offset)
      }
    }
    this.#spread()
    let count = 0
    for (const list of byPair.values()) count += list.length
    this.offsets = new Int8Array(count)
    this.distances = new Int8Array(count)
    this.others = new Uint8Array(count)
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
    const costs = exact ? exactCost : foldedCost
    let best = parity
    let least = Infinity
    for (let offset = parity; offset + 2 <= literal.length; offset += 2) {
      const cost = costs(literal.slice(offset, offset + 2))
      if (cost < least) [best, least] = [offset, cost]
    }
    return best
  }

  /** Adds the pair at `offset` and its rarer neighbour to the group in which they are least frequent. */
  #group(literal: T, offset: number): void {
    const [left, here, right] = [-2, 0, 2].map((by) => shareAt(literal, offset + by)) as [
      number,
      number,
      number,
    ]
    const isLeft = left < right
    const start = isLeft ? offset - 2 : offset
    const [first, second] = isLeft ? [left, here] : [here, right]
    if (Math.max(first, second) > 0.3) {
      this.#anyBefore = true
      for (const pair of pairsAt(literal, offset)) this.groups[pair]! |= 256
      return
    }
    let group = 1
    let least = Infinity
    for (let i = 1; i < 8; i++) {
      const it = this.#shares[i]!
      const cost = (it.first + first) * (it.second + second) - it.first * it.second
      if (cost < least) [group, least] = [i, cost]
    }
    const shares = this.#shares[group]!
    shares.first += first
    shares.second += second
    this.#mark(literal, start, 1 << group)
    this.#mark(literal, start + 2, 256 << group)
  }

  /** If one of the two may be any character, that is noted once, not for each character. */
  #mark(literal: T, at: number, bits: number): void {
    const firsts = codesAt(literal, at)
    const seconds = codesAt(literal, at + 1)
    if (seconds === ascii) for (const a of firsts) this.#anySecond[a & 127]! |= bits
    else if (firsts === ascii) for (const b of seconds) this.#anyFirst[b & 127]! |= bits
    else for (const a of firsts) for (const b of seconds) this.groups[indexOf(a, b)]! |= bits
  }

  /** Expands the notes for any character. */
  #spread(): void {
    const { groups } = this
    // Some pairs have no rare neighbour: the first group accepts any pair before those.
    const before = this.#anyBefore ? 1 : 0
    for (let b = 0; b < 128; b++) {
      const bits = this.#anyFirst[b]! | before
      for (let a = 0; a < 128; a++) groups[a | (b << 7)]! |= bits | this.#anySecond[a]!
    }
  }
}

function indexOf(first: number, second: number): number {
  return (first & 127) | ((second & 127) << 7)
}

const ascii = Array.from({ length: 128 }, (_, code) => code)
/** Last bytes of characters beyond ASCII. */
const beyondAscii = Array.from({ length: 64 }, (_, i) => 128 + i)

/** Codes of characters that may occur at an offset of the literal, before it or after it. */
function codesAt({ literal, exact, before, after }: Literal, at: number): readonly number[] {
  if (at === -1 && before !== undefined) return orBeyond(before)
  if (at === literal.length && after !== undefined) return codesOf(after)
  if (at < 0 || at >= literal.length) return ascii
  const character = literal.charAt(at)
  return exact ? codesOf(character) : bothCases(character)
}

/** Cached, since a client waits for the tables: they take thousands of queries about a hundred characters. */
const codesOf = remembered((characters) => Array.from(characters, (character) => character.charCodeAt(0)))
const orBeyond = remembered((characters) => [...codesOf(characters), ...beyondAscii])
const bothCases = remembered((character) => {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
  return codesOf(lower === upper ? character : lower + upper)
})

function remembered<T>(make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    let value = known.get(text)
    if (value === undefined) known.set(text, (value = make(text)))
    return value
  }
}

function pairsAt(literal: Literal, offset: number): number[] {
  const second = codesAt(literal, offset + 1)
  const pairs: number[] = []
  for (const a of codesAt(literal, offset)) for (const b of second) pairs.push(indexOf(a, b))
  return pairs
}

const order = ' etaonisrl"hdcmu,p:./yf0b-g_12v3w'
/** Approximate share of each character in a text. */
const shares = ascii.map((code) => {
  const rank = order.indexOf(String.fromCharCode(code))
  return rank < 0 ? 0.004 : 0.1 / (1 + rank / 4)
})

/** Approximate share of a text that matches the pair at `offset` of the literal. */
function shareAt(literal: Literal, offset: number): number {
  return shareOf(codesAt(literal, offset)) * shareOf(codesAt(literal, offset + 1))
}

/** Cached, since the same lists of codes recur. */
const knownShares = new Map<readonly number[], number>([[ascii, 1]])

function shareOf(codes: readonly number[]): number {
  const known = knownShares.get(codes)
  if (known !== undefined) return known
  let sum = 0
  for (const code of codes) sum += shares[code] ?? 0
  const share = Math.min(0.9, sum)
  knownShares.set(codes, share)
  return share
}

/** Index of a character of the literal beside the pair, or in the pair if there is no other. */
function otherThan({ literal }: Literal, offset: number): number {
  if (offset > 0) return offset - 1
  return offset + 2 < literal.length ? offset + 2 : 0
}

/** Finds all literals in a text, one after the other. */
export class LiteralFinder<T extends Literal> {
  readonly #wanted: readonly T[]
  /** Created for the first text. */
  #made: LiteralPairs<T> | undefined

  constructor(literals: readonly T[]) {
    this.#wanted = literals
  }

  get #pairs(): LiteralPairs<T> {
    return (this.#made ??= new LiteralPairs(this.#wanted))
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
      const pair = indexOf(a < 128 ? a : 0, b < 128 ? b : 0)
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
