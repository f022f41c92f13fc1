/** As `doubleQuotes` and `indentInto`, sixteen bytes at once. */
import { createWasmFunction, op, type Code } from '../wire/index.js'

/** A function whose texts are in its own memory. */
export interface FormMemory {
  /** Holds the texts. */
  readonly source: Uint8Array
  /** Holds the results. */
  readonly target: Uint8Array
  /** Places of the text in `source` and of its result in `target`; returns the end in `target`, or a negative number. */
  readonly write: (start: number, end: number, at: number) => number
}

/** Bytes after a text or a result that a function may read or write. */
const margin = 64
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const SPACE = 0x20
const LF = 0x0a
/** Bits that opening brackets share, and closing ones. */
const [opening, closing, either] = [0x5b, 0x5d, 0xdf]

/** Parameters and variables. */
const [from, end, to, limit, sixteen, length, code, depth, more] = [0, 1, 2, 3, 4, 5, 6, 7, 8]

const add = (variable: number, amount: Code): Code => [
  op.localGet(variable),
  amount,
  op.i32Add,
  op.localSet(variable),
]
const step = (variable: number, amount: number): Code => add(variable, op.i32Const(amount))
const equals = (byte: number): Code => [op.localGet(sixteen), op.i32Const(byte), op.i8x16Splat, op.i8x16Eq]
const put = (byte: Code, offset = 0): Code => [op.localGet(to), byte, op.i32Store8(offset)]
const returns = (value: Code): Code => [value, op.return]
const when = (condition: Code, then: Code): Code => [condition, op.if, then, op.end]
const isCode = (byte: number): Code => [op.localGet(code), op.i32Const(byte), op.i32Eq]
const isBracket = (variable: number, bracket: number): Code => [
  op.localGet(variable),
  op.i32Const(either),
  op.i32And,
  op.i32Const(bracket),
  op.i32Eq,
]
const atEnd = [op.localGet(from), op.localGet(end), op.i32GeU]

/** Copies sixteen bytes. `length` becomes the number of those before the first one that is looked for. */
const copyUntil = (sought: Code): Code => [
  op.localGet(to),
  [op.localGet(from), op.v128Load, op.localTee(sixteen), op.v128Store],
  sought,
  [op.i8x16Bitmask, op.i32Const(0x1_0000), op.i32Or, op.i32Ctz, op.localSet(length)],
]
const pass = [add(from, op.localGet(length)), add(to, op.localGet(length))]

/** The caller provides room for twice the text. */
const doubling = [
  op.loop,
  copyUntil(equals(QUOTE)),
  // The end comes first.
  when(
    [op.localGet(from), op.localGet(length), op.i32Add, op.localGet(end), op.i32GeU],
    returns([op.localGet(to), op.localGet(end), op.localGet(from), op.i32Sub, op.i32Add]),
  ),
  pass,
  // A second quote, unless there is none among the sixteen: it is then overwritten.
  put(op.i32Const(QUOTE), 1),
  [op.i32Const(1), op.localGet(length), op.i32Const(4), op.i32ShrU, op.i32Sub],
  op.localTee(length),
  [op.localGet(from), op.i32Add, op.localSet(from)],
  add(to, [op.localGet(length), op.i32Const(1), op.i32Shl]),
  [op.br(0), op.end],
  op.i32Const(0),
]

const noRoom = (bytes: Code): Code =>
  when([op.localGet(to), bytes, op.i32Add, op.localGet(limit), op.i32GtU], returns(op.i32Const(-1)))

/** Two spaces per level, written by sixteens. */
const breakLine = [
  put(op.i32Const(LF)),
  step(to, 1),
  [op.i32Const(0), op.localSet(more)],
  op.loop,
  [op.localGet(to), op.localGet(more), op.i32Add],
  [op.i32Const(SPACE), op.i8x16Splat, op.v128Store],
  step(more, 16),
  [op.localGet(more), op.localGet(depth), op.i32LtU, op.brIf(0)],
  op.end,
  add(to, op.localGet(depth)),
]

const string = [
  put(op.i32Const(QUOTE)),
  [step(from, 1), step(to, 1)],
  op.loop,
  noRoom(op.i32Const(18)),
  when(atEnd, returns(op.i32Const(-1))),
  copyUntil([equals(QUOTE), equals(BACKSLASH), op.v128Or]),
  pass,
  [op.localGet(length), op.i32Const(16), op.i32Eq, op.brIf(0)],
  [op.localGet(from), op.i32Load8u(), op.i32Const(BACKSLASH), op.i32Eq],
  op.if,
  [op.localGet(to), op.localGet(from), op.i32Load16u(), op.i32Store16()],
  [step(from, 2), step(to, 2), op.br(1)],
  op.end,
  op.end,
  [step(from, 1), step(to, 1)],
]

const copyCode = [put(op.localGet(code)), step(from, 1), step(to, 1)]
const afterOpening = [
  [op.localGet(from), op.i32Load8u(), op.localSet(more)],
  isBracket(more, closing),
  op.if,
  [put(op.localGet(more)), step(from, 1), step(to, 1), op.br(2)],
  op.end,
  step(depth, 2),
  breakLine,
  op.br(1),
]

/** @param level of the line on which the text begins */
const indenting = (level: number): Code => [
  [op.i32Const(2 * level), op.localSet(depth)],
  op.loop,
  when(atEnd, returns(op.localGet(to))),
  noRoom([op.localGet(depth), op.i32Const(24), op.i32Add]),
  [op.localGet(from), op.i32Load8u(), op.localSet(code)],
  when(isCode(QUOTE), [string, op.br(1)]),
  when([op.localGet(code), op.i32Const(SPACE), op.i32LeU], returns(op.i32Const(-2))),
  when(isBracket(code, closing), [step(depth, -2), breakLine]),
  copyCode,
  when(isBracket(code, opening), afterOpening),
  when(isCode(COMMA), [breakLine, op.br(1)]),
  when(isCode(COLON), [put(op.i32Const(SPACE)), step(to, 1)]),
  [op.br(0), op.end],
  op.i32Const(0),
]

/**
 * Memory for texts and their results. Undefined where WebAssembly does not run.
 *
 * @param level to indent from; quotes are doubled without one
 */
export function createFormMemory(
  sourceBytes: number,
  targetBytes: number,
  level?: number,
): FormMemory | undefined {
  const first = sourceBytes + margin
  const last = first + targetBytes
  const body = level === undefined ? doubling : indenting(level)
  const made = createWasmFunction(last + margin, ['v128', 'i32', 'i32', 'i32', 'i32'], body, 4)
  if (!made) return undefined
  return {
    source: new Uint8Array(made.memory, 0, sourceBytes),
    target: new Uint8Array(made.memory, first, targetBytes),
    write(start, until, at) {
      const found = made.call(start, until, first + at, last)
      return found < 0 ? found : found - first
    },
  }
}
