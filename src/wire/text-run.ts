/** Runs of plain characters in long JSON texts, read sixteen bytes at once. */
import { createWasmFunction, op, type WasmFunction } from './wasm-module.js'

/** Bytes are copied into the function's memory in pieces: small ones first, because most runs end soon. */
const firstPiece = 2_048
const largestPiece = 32_768
/** Bytes after the piece that the function may read. */
const margin = 16

const [at, end, sixteen, ends] = [0, 1, 2, 3]
const equals = (byte: number): readonly number[] =>
  [op.localGet(sixteen), op.i32Const(byte), op.i8x16Splat, op.i8x16Eq].flat()

/** Index of the first byte from `at` that ends a run; at least `end` if there is none. */
const body = [
  [op.block, op.loop],
  [op.localGet(at), op.v128Load, op.localSet(sixteen)],
  // As signed numbers, bytes beyond ASCII are below 0x20 too.
  [op.localGet(sixteen), op.i32Const(0x20), op.i8x16Splat, op.i8x16LtS],
  [equals(0x22), op.v128Or, equals(0x5c), op.v128Or],
  [op.i8x16Bitmask, op.localTee(ends), op.brIf(1)],
  [op.localGet(at), op.i32Const(16), op.i32Add, op.localTee(at)],
  [op.localGet(end), op.i32LtU, op.brIf(0)],
  [op.end, op.end],
  // Sixteen if nothing ends the run.
  [op.localGet(ends), op.i32Const(0x1_0000), op.i32Or, op.i32Ctz, op.localGet(at), op.i32Add],
].flat(2)

let made: { readonly piece: Uint8Array; readonly find: WasmFunction['call'] } | null | undefined

function make(): typeof made {
  const created = createWasmFunction(largestPiece + margin, ['v128', 'i32'], body)
  return created ? { piece: new Uint8Array(created.memory), find: created.call } : null
}

/**
 * Index from `start` of the first quote, backslash, control character or byte beyond ASCII; the length of `bytes` if
 * there is none. Undefined where WebAssembly does not run.
 */
export function textRunEnd(bytes: Uint8Array, start: number): number | undefined {
  if (made === undefined) made = make()
  if (!made) return undefined
  const { piece, find } = made
  let size = firstPiece
  for (let from = start; from < bytes.length; from += size, size = Math.min(4 * size, largestPiece)) {
    size = Math.min(size, bytes.length - from)
    piece.set(bytes.subarray(from, from + size))
    const found = find(0, size)
    if (found < size) return from + found
  }
  return bytes.length
}
