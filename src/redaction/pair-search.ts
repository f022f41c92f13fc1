/** The search of a piece of text for pairs of characters, as a WebAssembly function. */
import { createWasmFunction, op } from '../wire/index.js'
import { isLittleEndian } from './endian.js'
import type { TriggerPairs } from './trigger-pairs.js'
import { pieceBytes, usePiece } from './trigger-piece.js'

/** Addresses of the tables. The piece comes after them. */
const counts = 1 << 16
const first = counts + (1 << 14)
const distances = first + (1 << 15)

const code = (...parts: readonly (readonly number[])[]): readonly number[] => parts.flat()
const [at, end, known, a, b, c, d, pair, index, n, last, eight] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]

const masked = (mask: number): readonly number[] => code(op.i32Const(mask), op.i32And)
const add = (value: number): readonly number[] => code(op.i32Const(value), op.i32Add)
/** The groups of the pair at this bit of `eight`. */
const groupsAt = (bit: number): readonly number[] =>
  code(
    op.localGet(eight),
    bit === 0 ? [] : code(op.i64Const(BigInt(bit)), op.i64ShrU),
    op.i32WrapI64,
    masked(0xffff),
    op.i32Load16u(),
  )
const follows = (one: number, next: number): readonly number[] =>
  code(op.localGet(one), op.i32Const(8), op.i32Shl, op.localGet(next), op.i32And)

/** Returns `at` if a literal may be around the pair at `pair`. @param others address of the table */
const literalsAround = (others: number): readonly number[] =>
  code(
    code(op.localGet(pair), op.i32Load16u(), op.localTee(index), masked(0x7f)),
    code(op.localGet(index), op.i32Const(1), op.i32ShrU, masked(0x3f80), op.i32Or, op.localTee(index)),
    code(op.i32Const(1), op.i32Shl, op.i32Load16u(first), op.localTee(n)),
    code(op.localGet(index), op.i32Load8u(counts), op.i32Add, op.localSet(last)),
    op.block,
    op.loop,
    code(op.localGet(n), op.localGet(last), op.i32GeU, op.brIf(1)),
    code(op.localGet(pair), op.localGet(n), op.i32Load8s(distances), op.i32Add, op.i32Load8u(), masked(31)),
    code(op.localGet(n), op.i32Load8u(others), op.i32Eq),
    code(op.if, op.localGet(at), op.return, op.end),
    code(op.localGet(n), add(1), op.localSet(n), op.br(0)),
    op.end,
    op.end,
  )

/** The loop of `findInPiece`, with the first check of `startAround`. */
const body = (others: number): readonly number[] =>
  code(
    code(op.localGet(at), add(-2), op.i32Load16u(), masked(0x7f7f)),
    code(op.i32Const(1), op.i32Shl, op.i32Load16u(), op.localSet(known)),
    op.loop,
    // An entry of the table has two bytes.
    code(op.localGet(at), op.i64Load(), op.i64Const(0x7f7f7f7f7f7f7f7fn), op.i64And),
    code(op.i64Const(1n), op.i64Shl, op.localSet(eight)),
    code(groupsAt(0), op.localSet(a), groupsAt(16), op.localSet(b)),
    code(groupsAt(32), op.localSet(c), groupsAt(48), op.localSet(d)),
    code(follows(known, a), follows(a, b), op.i32Or, follows(b, c), op.i32Or, follows(c, d), op.i32Or),
    code(op.if, op.localGet(at), add(-2), op.localSet(pair)),
    op.loop,
    literalsAround(others),
    code(op.localGet(pair), add(2), op.localTee(pair), op.localGet(at), add(8), op.i32LtU, op.brIf(0)),
    op.end,
    op.end,
    code(op.localGet(d), op.localSet(known)),
    code(op.localGet(at), add(8), op.localTee(at), op.localGet(end), op.i32LtU, op.brIf(0)),
    op.end,
    op.localGet(at),
  )

interface PairSearch {
  /**
   * Index of the next eight bytes of the piece that a literal may be around; at least `end` if there are none.
   *
   * @param start a multiple of eight above zero
   */
  find(start: number, end: number): number
}

/** Texts of this length are worth the search. */
export const longText = 4_096
/** Undefined until it is prepared, and where WebAssembly does not run. */
export let pairSearch: PairSearch | undefined
let isPrepared = false

/** Makes the search on the first call. The piece is then in its memory. */
export function preparePairSearch(pairs: TriggerPairs): void {
  if (isPrepared) return
  isPrepared = true
  if (!isLittleEndian) return
  const others = distances + pairs.distances.length
  const begin = (others + pairs.others.length + 7) & ~7
  const locals = [...Array.from({ length: 9 }, () => 'i32' as const), 'i64' as const]
  const made = createWasmFunction(begin + pieceBytes + margin, locals, body(others))
  if (!made) return
  const memory = new Uint8Array(made.memory)
  new Uint16Array(made.memory).set(pairs.groupsByBytes)
  memory.set(pairs.counts, counts)
  new Uint16Array(made.memory, first).set(pairs.first)
  memory.set(pairs.distances, distances)
  memory.set(pairs.others, others)
  usePiece(memory.subarray(begin, begin + pieceBytes))
  pairSearch = { find: (start, end) => made.call(begin + start, begin + end) - begin }
}

/** Bytes after the piece that the function may read. */
const margin = 16
