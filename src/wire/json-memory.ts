/** JSON values of whole chunks, skipped by WebAssembly sixteen bytes at once. */
import { isHex, isShortEscape } from './json-escapes.js'
import { createWasmFunction, op, type Code } from './wasm-module.js'

/** Memory for a chunk of JSON lines. `skipAny` is faster there. */
export interface JsonMemory {
  readonly bytes: Uint8Array
  /** Whether `bytes` is valid UTF-8. The owner sets it for each chunk; until then, values are skipped as elsewhere. */
  isUtf8: boolean
}

type Owned = JsonMemory & { readonly skip: (start: number, unused: number) => number }

let owned: Owned | undefined

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const COLON = 0x3a
const BACKSLASH = 0x5c
const LOWER_U = 0x75
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b

/** Bits of the table: the byte is a hexadecimal digit, or continues a short escape. */
const [hex, short] = [1, 2]
/** Deeper values and longer numbers are skipped elsewhere. */
const [deepest, mostDigits] = [60, 1_000]
/** Bytes after the chunk that the function may read. */
const margin = 16

/** Parameters and variables. In `kinds`, the lowest bit is 1 inside of an object and 0 inside of an array. */
const [at, , sixteen, length, code, depth, kinds] = [0, 1, 2, 3, 4, 5, 6]

const byteAt = (offset = 0): Code => [op.localGet(at), op.i32Load8u(offset)]
const step = (amount: Code): Code => [op.localGet(at), amount, op.i32Add, op.localSet(at)]
const by = (amount: number): Code => step(op.i32Const(amount))
const is = (value: Code, other: number): Code => [value, op.i32Const(other), op.i32Eq]
const isNot = (value: Code, other: number): Code => [value, op.i32Const(other), op.i32Ne]
const when = (condition: Code, then: Code): Code => [condition, op.if, then, op.end]
const fails: Code = [op.i32Const(-1), op.return]
const lower = (value: Code): Code => [value, op.i32Const(0x20), op.i32Or]
const inObject: Code = [op.localGet(kinds), op.i32WrapI64, op.i32Const(1), op.i32And]
const lanes = (byte: number, compare: Code): Code => [
  op.localGet(sixteen),
  op.i32Const(byte),
  op.i8x16Splat,
  compare,
]
const change = (variable: number, amount: number): Code => [
  op.localGet(variable),
  op.i32Const(amount),
  op.i32Add,
  op.localSet(variable),
]
const leave: Code = [[op.localGet(kinds), op.i64Const(1n), op.i64ShrU, op.localSet(kinds)], change(depth, -1)]

const space: Code = [
  op.loop,
  when([is(byteAt(), 0x20), is(byteAt(), 0x09), op.i32Or], [by(1), op.br(1)]),
  op.end,
]

const escape = (table: number): Code => {
  const entry = (offset: number, bit: number): Code => [
    byteAt(offset),
    op.i32Load8u(table),
    op.i32Const(bit),
    op.i32And,
  ]
  const hexDigits = [1, 2, 3, 4].map((offset) => entry(offset, hex))
  return [
    is(byteAt(), LOWER_U),
    op.if,
    when([hexDigits, op.i32And, op.i32And, op.i32And, op.i32Eqz], fails),
    // Escaped surrogates are counted elsewhere.
    when(is(lower(byteAt(1)), 0x64), fails),
    by(5),
    op.else,
    when([entry(0, short), op.i32Eqz], fails),
    by(1),
    op.end,
  ]
}

/** From the opening quote. */
const text = (table: number): Code => [
  by(1),
  op.loop,
  [op.localGet(at), op.v128Load, op.localSet(sixteen)],
  [lanes(QUOTE, op.i8x16Eq), lanes(BACKSLASH, op.i8x16Eq), op.v128Or],
  [lanes(0x20, op.i8x16LtU), op.v128Or, op.i8x16Bitmask],
  [op.i32Const(0x1_0000), op.i32Or, op.i32Ctz, op.localTee(length)],
  [op.localGet(at), op.i32Add, op.localSet(at)],
  [is(op.localGet(length), 16), op.brIf(0)],
  [byteAt(), op.localSet(code), by(1)],
  when(is(op.localGet(code), BACKSLASH), [escape(table), op.br(1)]),
  when(isNot(op.localGet(code), QUOTE), fails),
  op.end,
]

/** A name, its colon, and white space around them. */
const name = (table: number): Code => [
  when(isNot(byteAt(), QUOTE), fails),
  text(table),
  space,
  when(isNot(byteAt(), COLON), fails),
  by(1),
  space,
]

const digits: Code = [
  [op.localGet(at), op.localSet(length)],
  op.loop,
  when([byteAt(), op.i32Const(ZERO), op.i32Sub, op.i32Const(10), op.i32LtU], [by(1), op.br(1)]),
  op.end,
  // None, or too many.
  [op.localGet(at), op.localGet(length), op.i32Sub, op.i32Const(1), op.i32Sub],
  when([op.i32Const(mostDigits), op.i32GeU], fails),
]

const number: Code = [
  when(is(byteAt(), MINUS), by(1)),
  [is(byteAt(), ZERO), op.if, by(1), op.else, digits, op.end],
  when(is(byteAt(), 0x2e), [by(1), digits]),
  when(is(lower(byteAt()), 0x65), [
    by(1),
    when([is(byteAt(), 0x2b), is(byteAt(), MINUS), op.i32Or], by(1)),
    digits,
  ]),
]

/** @param first its letter @param rest of it, from the letter at `offset` on */
const word = (first: number, rest: number, offset: number): Code =>
  when(is(op.localGet(code), first), [
    when(isNot([op.localGet(at), op.i32Load(offset)], rest), fails),
    by(offset + 4),
    op.br(1),
  ])

/** Four letters as a number. */
const four = (letters: string): number =>
  letters.split('').reduceRight((sum, letter) => (sum << 8) | letter.charCodeAt(0), 0)

/** Into an object or array: to its first value, unless it is empty. */
const enter = (table: number): Code => [
  by(1),
  change(depth, 1),
  when([op.localGet(depth), op.i32Const(deepest), op.i32GtU], fails),
  [op.localGet(kinds), op.i64Const(1n), op.i64Shl],
  [op.localGet(code), op.i32Const(5), op.i32ShrU, op.i32Const(1), op.i32And, op.i64ExtendI32U],
  [op.i64Or, op.localSet(kinds)],
  space,
  when([byteAt(), op.localGet(code), op.i32Const(2), op.i32Add, op.i32Eq], [by(1), leave, op.br(2)]),
  when(inObject, name(table)),
  op.br(2),
]

const body = (table: number): Code => [
  op.loop,
  op.block,
  [byteAt(), op.localSet(code)],
  when(is(op.localGet(code), QUOTE), [text(table), op.br(1)]),
  when([is(op.localGet(code), OPEN_OBJECT), is(op.localGet(code), OPEN_ARRAY), op.i32Or], enter(table)),
  word(0x74, four('true'), 0),
  word(0x66, four('alse'), 1),
  word(0x6e, four('null'), 0),
  number,
  op.end,
  // After a value.
  op.loop,
  when([op.localGet(depth), op.i32Eqz], [op.localGet(at), op.return]),
  space,
  [byteAt(), op.localSet(code), by(1)],
  when(is(op.localGet(code), COMMA), [space, when(inObject, name(table)), op.br(2)]),
  when(
    [op.localGet(code), inObject, op.i32Const(5), op.i32Shl, op.i32Const(CLOSE_ARRAY), op.i32Add, op.i32Ne],
    fails,
  ),
  leave,
  op.br(0),
  op.end,
  op.end,
  op.i32Const(-1),
]

/** The only such memory of a thread. Undefined where WebAssembly does not run. */
export function createJsonMemory(sizeBytes: number): JsonMemory | undefined {
  const table = sizeBytes + margin
  const made = createWasmFunction(table + 256, ['v128', 'i32', 'i32', 'i32', 'i64'], body(table))
  if (!made) return undefined
  const memory = new Uint8Array(made.memory)
  for (let byte = 0; byte < 256; byte += 1)
    memory[table + byte] = (isHex(byte) ? hex : 0) | (isShortEscape(byte) ? short : 0)
  owned = { bytes: memory.subarray(0, sizeBytes), isUtf8: false, skip: made.call }
  return owned
}

/** As `skipAny`, for bytes in the memory. -1 for other bytes and for values that need a closer look. */
export function skipInMemory(bytes: Uint8Array, start: number): number {
  if (!owned?.isUtf8 || bytes.buffer !== owned.bytes.buffer) return -1
  const { byteOffset } = bytes
  const end = owned.skip(byteOffset + start, 0)
  return end < 0 ? -1 : end - byteOffset
}
