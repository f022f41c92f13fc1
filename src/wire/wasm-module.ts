/**
 * WebAssembly modules of one function, assembled here: the engine compiles them once, without first running them slowly,
 * and they read sixteen bytes at once. JavaScript with the same results is used where they cannot run.
 */

/** Instructions in the words of the WebAssembly specification. */
export const op = {
  block: [0x02, 0x40],
  loop: [0x03, 0x40],
  if: [0x04, 0x40],
  else: [0x05],
  end: [0x0b],
  br: (depth: number) => [0x0c, depth],
  brIf: (depth: number) => [0x0d, depth],
  localGet: (index: number) => [0x20, index],
  localSet: (index: number) => [0x21, index],
  localTee: (index: number) => [0x22, index],
  i32Const: (value: number) => [0x41, ...signed(value)],
  i64Const: (value: bigint) => [0x42, ...signed(value)],
  return: [0x0f],
  i32Load8s: (offset = 0) => [0x2c, 0, ...unsigned(offset)],
  i32Load8u: (offset = 0) => [0x2d, 0, ...unsigned(offset)],
  i32Load16u: (offset = 0) => [0x2f, 0, ...unsigned(offset)],
  i32Load: (offset = 0) => [0x28, 0, ...unsigned(offset)],
  i64Load: (offset = 0) => [0x29, 0, ...unsigned(offset)],
  i32Store8: (offset = 0) => [0x3a, 0, ...unsigned(offset)],
  i32Store16: (offset = 0) => [0x3b, 0, ...unsigned(offset)],
  i32Eqz: [0x45],
  i32Eq: [0x46],
  i32Ne: [0x47],
  i32LtU: [0x49],
  i32GtU: [0x4b],
  i32LeU: [0x4d],
  i32GeU: [0x4f],
  i32Ctz: [0x68],
  i32Add: [0x6a],
  i32Sub: [0x6b],
  i32And: [0x71],
  i32Or: [0x72],
  i32Shl: [0x74],
  i32ShrU: [0x76],
  i64And: [0x83],
  i64Or: [0x84],
  i64Shl: [0x86],
  i64ShrU: [0x88],
  i32WrapI64: [0xa7],
  i64ExtendI32U: [0xad],
  v128Load: [0xfd, 0x00, 0, 0],
  v128LoadAt: (offset: number) => [0xfd, 0x00, 0, ...unsigned(offset)],
  v128Store: [0xfd, 0x0b, 0, 0],
  i8x16Splat: [0xfd, 0x0f],
  i8x16Eq: [0xfd, 0x23],
  i8x16LtS: [0xfd, 0x25],
  i8x16LtU: [0xfd, 0x26],
  v128And: [0xfd, 0x4e],
  v128Or: [0xfd, 0x50],
  i8x16Bitmask: [0xfd, 0x64],
} as const

const type = { i32: 0x7f, i64: 0x7e, v128: 0x7b } as const

/** The part that is used here. Node's types do not declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

/** Instructions and their operands, nested as they are read. */
export type Code = number | readonly Code[]

/** A function of numbers over its own memory. */
export interface WasmFunction {
  readonly memory: ArrayBuffer
  readonly call: (first: number, second: number, third?: number, fourth?: number) => number
}

let isUsed = false

/** Allows WebAssembly from now on. Not called in browsers, where a page's policy forbids it. */
export function useWebAssembly(isWanted = true): void {
  isUsed = isWanted
}

/**
 * The function with `i32` parameters, further `locals` and a result of `i32`; undefined unless it is allowed, and where
 * the engine does not support it or has no memory for it.
 */
export function createWasmFunction(
  memoryBytes: number,
  locals: readonly (keyof typeof type)[],
  body: Code,
  parameters: 2 | 4 = 2,
): WasmFunction | undefined {
  const declared = locals.map((each) => [1, type[each]])
  const code = [...unsigned(declared.length), ...declared.flat(), ...flat(body), ...op.end]
  const module = [
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, [1, 0x60, parameters, ...Array.from({ length: parameters }, () => type.i32), 1, type.i32]),
    section(3, [1, 0]),
    section(5, [1, 0, ...unsigned(Math.ceil(memoryBytes / pageBytes))]),
    section(7, [2, 1, 0x6d, 2, 0, 1, 0x66, 0, 0]),
    section(10, [1, ...unsigned(code.length), ...code]),
  ]
  const made = wasmInstance(Uint8Array.from(module.flat())) as
    | { m: { readonly buffer: ArrayBuffer }; f: WasmFunction['call'] }
    | undefined
  return made && { memory: made.m.buffer, call: made.f }
}

/**
 * The exports of a module without imports; undefined unless WebAssembly is allowed, and where the engine does not
 * support it or has no memory for it.
 */
export function wasmInstance(module: Uint8Array): unknown {
  if (!isUsed) return undefined
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(module)).exports
  } catch {
    return undefined
  }
}

const pageBytes = 65_536

function flat(code: Code): number[] {
  return typeof code === 'number' ? [code] : code.flatMap(flat)
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...unsigned(content.length), ...content]
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

function signed(value: number | bigint): number[] {
  let rest = BigInt(value)
  const bytes: number[] = []
  for (;;) {
    const byte = Number(rest & 0x7fn)
    rest >>= 7n
    if ((rest === 0n && byte < 0x40) || (rest === -1n && byte >= 0x40)) return [...bytes, byte]
    bytes.push(byte | 0x80)
  }
}
