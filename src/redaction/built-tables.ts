/** Tables that a build made of the built-in rules. They are read when a text first needs them. */
import { packTables, unpackTables, type LiteralTables } from './literal-tables.js'
import type { Literal } from './literal.js'

type Part = 'triggers' | 'anchors'

let read: () => Uint8Array | undefined = () => undefined

/**
 * Lets the first text that needs tables read them instead of making them.
 *
 * @param source gives what `redactionTables` gave; tables are made if they are missing, damaged or of other rules. Must
 *   not throw.
 */
export function useRedactionTables(source: () => Uint8Array | undefined): void {
  read = source
}

/** The length of the first part (4 bytes, big-endian), then both parts. */
export function packBoth(triggers: readonly Literal[], anchors: readonly Literal[]): Uint8Array {
  const [first, second] = [packTables(triggers), packTables(anchors)]
  const bytes = new Uint8Array(4 + first.length + second.length)
  new DataView(bytes.buffer).setUint32(0, first.length)
  bytes.set(first, 4)
  bytes.set(second, 4 + first.length)
  return bytes
}

/** The tables of a part; undefined if they are missing, damaged or of other literals. */
export function builtTables(part: Part, literals: readonly Literal[]): LiteralTables | undefined {
  const bytes = read()
  if (!bytes || bytes.length < 4) return undefined
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  return unpackTables(literals, part === 'triggers' ? bytes.subarray(4, end) : bytes.subarray(end))
}
