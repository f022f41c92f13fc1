/** The tables with which `LiteralFinder` finds literals. They depend on the literals only, so a build can make them. */
import { isLittleEndian } from '../wire/index.js'
import type { Literal } from './literal.js'

/** See `LiteralPairs`. */
export interface LiteralTables {
  readonly groups: Uint16Array
  readonly counts: Uint8Array
  readonly first: Uint16Array
  /** The literals of all pairs, as indices. */
  readonly order: Uint16Array
  readonly offsets: Int8Array
  readonly distances: Int8Array
  readonly others: Uint8Array
}

const size = 1 << 14

export function makeTables(literals: readonly Literal[]): LiteralTables {
  return new TableMaker().make(literals)
}

class TableMaker {
  readonly #groups = new Uint16Array(size)
  #anyBefore = false
  /** By the first and by the second character of a pair: groups that contain it with any other character. */
  readonly #anySecond = new Uint16Array(128)
  readonly #anyFirst = new Uint16Array(128)
  /** For each group, the share of a text covered by its first, and by its second pairs. */
  readonly #shares = Array.from({ length: 8 }, () => ({ first: 0, second: 0 }))

  make(literals: readonly Literal[]): LiteralTables {
    const byPair = new Map<number, { literal: number; offset: number }[]>()
    let count = 0
    for (const [index, literal] of literals.entries()) {
      for (const parity of [0, 1]) {
        const offset = rarest(literal, parity)
        for (const pair of pairsAt(literal, offset)) {
          count++
          const list = byPair.get(pair)
          if (list) list.push({ literal: index, offset })
          else byPair.set(pair, [{ literal: index, offset }])
        }
        this.#group(literal, offset)
      }
    }
    this.#spread()
    return { groups: this.#groups, ...listsOf(literals, byPair, count) }
  }

  /** Adds the pair at `offset` and its rarer neighbour to the group in which they are least frequent. */
  #group(literal: Literal, offset: number): void {
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
      for (const pair of pairsAt(literal, offset)) this.#groups[pair]! |= 256
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
  #mark(literal: Literal, at: number, bits: number): void {
    const firsts = codesAt(literal, at)
    const seconds = codesAt(literal, at + 1)
    if (seconds === ascii) for (const a of firsts) this.#anySecond[a & 127]! |= bits
    else if (firsts === ascii) for (const b of seconds) this.#anyFirst[b & 127]! |= bits
    else for (const a of firsts) for (const b of seconds) this.#groups[pairOf(a, b)]! |= bits
  }

  /** Expands the notes for any character. */
  #spread(): void {
    const groups = this.#groups
    // Some pairs have no rare neighbour: the first group accepts any pair before those.
    const before = this.#anyBefore ? 1 : 0
    for (let b = 0; b < 128; b++) {
      const bits = this.#anyFirst[b]! | before
      for (let a = 0; a < 128; a++) groups[a | (b << 7)]! |= bits | this.#anySecond[a]!
    }
  }
}

function listsOf(
  literals: readonly Literal[],
  byPair: ReadonlyMap<number, readonly { literal: number; offset: number }[]>,
  count: number,
): Omit<LiteralTables, 'groups'> {
  const lists = {
    counts: new Uint8Array(size),
    first: new Uint16Array(size),
    order: new Uint16Array(count),
    offsets: new Int8Array(count),
    distances: new Int8Array(count),
    others: new Uint8Array(count),
  }
  let at = 0
  for (const [pair, list] of byPair) {
    lists.counts[pair] = list.length
    lists.first[pair] = at
    for (const { literal: index, offset } of list) {
      const literal = literals[index]!
      const other = literal.beside?.at ?? otherThan(literal, offset)
      lists.order[at] = index
      lists.offsets[at] = offset
      lists.distances[at] = other - offset
      lists.others[at] = (literal.beside?.character ?? literal.literal.charAt(other)).charCodeAt(0) & 31
      at++
    }
  }
  return lists
}

function rarest({ literal, exact, before, after }: Literal, parity: number): number {
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
  for (const a of codesAt(literal, offset)) for (const b of second) pairs.push(pairOf(a, b))
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

/** The index of two characters in the tables. */
export function pairOf(first: number, second: number): number {
  return (first & 127) | ((second & 127) << 7)
}

/**
 * Tables as bytes: a key of the literals (8 bytes), the number of entries (4), a checksum of the rest (4; all little-endian),
 * then each table in the order of `LiteralTables`.
 */
export function packTables(literals: readonly Literal[]): Uint8Array {
  const { groups, counts, first, order, offsets, distances, others } = makeTables(literals)
  const head = new Uint32Array([...keyOf(literals), order.length, 0])
  const parts = [head, groups, counts, first, order, offsets, distances, others]
  const bytes = new Uint8Array(packedBytes(order.length))
  let at = 0
  for (const part of parts) {
    bytes.set(new Uint8Array(part.buffer), at)
    at += part.byteLength
  }
  new Uint32Array(bytes.buffer, 0, 4)[3] = checksumOf(bytes.buffer)
  return bytes
}

/** The tables in `bytes`; undefined if they are of other literals or damaged. Throws nothing. */
export function unpackTables(literals: readonly Literal[], bytes: Uint8Array): LiteralTables | undefined {
  if (bytes.length < headBytes || !isLittleEndian) return undefined
  // A copy: views of two bytes an element need an even offset.
  const { buffer } = new Uint8Array(bytes)
  const [key1, key2, count = 0, checksum] = new Uint32Array(buffer, 0, 4)
  const key = keyOf(literals)
  if (key1 !== key[0] || key2 !== key[1] || bytes.length !== packedBytes(count)) return undefined
  if (checksum !== checksumOf(buffer)) return undefined
  let at = headBytes
  const next = (byteLength: number): number => (at += byteLength) - byteLength
  return {
    groups: new Uint16Array(buffer, next(2 * size), size),
    counts: new Uint8Array(buffer, next(size), size),
    first: new Uint16Array(buffer, next(2 * size), size),
    order: new Uint16Array(buffer, next(2 * count), count),
    offsets: new Int8Array(buffer, next(count), count),
    distances: new Int8Array(buffer, next(count), count),
    others: new Uint8Array(buffer, next(count), count),
  }
}

const headBytes = 16

/** Of the tables, four bytes at a time: FNV-1a. */
function checksumOf(buffer: ArrayBuffer): number {
  // A small number at once: with larger ones, the engine compiles `addTo` again.
  let sum = 0x811c9dc5 | 0
  const end = buffer.byteLength & ~3
  const words = new Uint32Array(buffer, headBytes, (end - headBytes) / 4)
  for (let at = 0; at < words.length; at += atOnce)
    sum = addTo(sum, words, at, Math.min(at + atOnce, words.length))
  const rest = new Uint8Array(buffer, end)
  return addTo(sum, rest, 0, rest.length) >>> 0
}

/** The engine compiles a loop of more rounds while it runs, and its function again later. */
const atOnce = 256

function addTo(sum: number, values: Uint32Array | Uint8Array, start: number, end: number): number {
  let next = sum
  for (let i = start; i < end; i++) next = Math.imul(next ^ values[i]!, 0x01000193)
  return next
}

const packedBytes = (count: number): number => headBytes + 5 * size + 5 * count

/** Two 32-bit FNV-1a hashes of all that the tables depend on. */
function keyOf(literals: readonly Literal[]): readonly [number, number] {
  let [one, two] = [0x811c9dc5, 0x01000193]
  const add = (text: string): void => {
    for (let i = 0; i <= text.length; i++) {
      // The end of a text counts as a character.
      const code = i < text.length ? text.charCodeAt(i) : 0x10000
      one = Math.imul(one ^ code, 0x01000193)
      two = Math.imul(two ^ code, 0x85ebca6b)
    }
  }
  add(tablesVersion)
  for (const { literal, exact, before, after, beside } of literals) {
    add(literal)
    if (exact) add('exact')
    if (before !== undefined) add(`before ${before}`)
    if (after !== undefined) add(`after ${after}`)
    if (beside) add(`beside ${beside.at} ${beside.character}`)
  }
  return [one >>> 0, two >>> 0]
}

/** Change it with the meaning of the tables. */
const tablesVersion = '1'
