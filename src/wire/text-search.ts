/** Searches for a text in bytes by WebAssembly, sixteen places at once. */
import { bytesOf, matches } from './json-bytes.js'
import { createWasmFunction, op, type Code } from './wasm-module.js'

const [at, end, found] = [0, 1, 2]

/** Index from `at` of the first place where these bytes of the text are; -1 if there is none. */
function body(text: Uint8Array, places: readonly number[]): Code {
  const equal = places.map((place) => [
    [op.localGet(at), op.v128LoadAt(place)],
    [op.i32Const(text[place]!), op.i8x16Splat, op.i8x16Eq],
  ])
  return [
    op.loop,
    [equal, equal.slice(1).map(() => op.v128And), op.i8x16Bitmask, op.localTee(found)],
    [op.if, op.localGet(at), op.localGet(found), op.i32Ctz, op.i32Add, op.return, op.end],
    [op.localGet(at), op.i32Const(16), op.i32Add, op.localTee(at)],
    [op.localGet(end), op.i32LtU, op.brIf(0)],
    op.end,
    op.i32Const(-1),
  ]
}

/**
 * Whether bytes contain an ASCII text. The result is undefined for more bytes than `mostBytes`; there is no search
 * where WebAssembly does not run.
 */
export function createTextSearch(
  text: string,
  mostBytes: number,
): ((bytes: Uint8Array) => boolean | undefined) | undefined {
  const sought = bytesOf(text)
  const last = sought.length - 1
  const places = [...new Set([0, Math.min(1, last), Math.max(0, (last + 1) >> 1), last])]
  const made = createWasmFunction(mostBytes + sought.length + 16, ['i32'], body(sought, places))
  if (!made) return undefined
  const memory = new Uint8Array(made.memory)
  return (bytes) => {
    const { length } = bytes
    if (length > mostBytes) return undefined
    memory.set(bytes)
    for (let from = 0; from < length;) {
      const candidate = made.call(from, length)
      if (candidate < 0 || candidate + sought.length > length) return false
      if (matches(memory, candidate, sought)) return true
      from = candidate + 1
    }
    return false
  }
}
