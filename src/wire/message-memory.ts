/** The memory of the WebAssembly module that works on messages (`wasm/index.ts`). */
import { isLittleEndian } from './endian.js'

/** Functions of the module, with positions as addresses. */
interface Functions {
  readonly read: (start: number) => number
  readonly find: (start: number, end: number) => number
  readonly write: (
    head: number,
    headLength: number,
    start: number,
    end: number,
    id: number,
    answers: number,
    seq: number,
    us: number,
    to: number,
  ) => number
  readonly skip: (start: number) => number
  readonly useUtf8: (isValid: boolean) => void
  readonly contains: (start: number, end: number, text: number, length: number) => number
  readonly doubleQuotes: (start: number, end: number, to: number) => number
  readonly indent: (start: number, end: number, to: number, limit: number, level: number) => number
}

type Numbers =
  | 'found'
  | 'groups'
  | 'counts'
  | 'first'
  | 'distances'
  | 'others'
  | 'mostLiterals'
  | 'key'
  | 'free'

/** Functions and numbers of the module. Numbers are addresses, except for `mostLiterals`. */
type Exports = Functions & { readonly memory: { readonly buffer: ArrayBuffer } } & {
  readonly [name in Numbers]: { readonly value: number }
}

/** The part that is used here. Node's types do not declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

/** The module may read and write so many bytes before and after a text. */
const margin = 16
/** Numbers of `MessageMemory.found`. */
const foundSize = 7

/** Tables of the search (see `TriggerPairs` in `redaction`). */
export interface SearchTables {
  readonly groupsByBytes: Uint16Array
  readonly counts: Uint8Array
  readonly first: Uint16Array
  readonly distances: Int8Array
  readonly others: Uint8Array
}

/** Texts in it are read, searched and written without a copy. */
export class MessageMemory {
  readonly buffer: ArrayBuffer
  /** Of the last message that was read: its kind, and the start and end of id, method and subject. */
  readonly found: Int32Array
  readonly call: Functions
  readonly #exports: Exports
  readonly #bytes: Uint8Array<ArrayBuffer>
  #free: number
  #hasTables = false
  #key: Uint32Array | undefined

  constructor(exports: Exports) {
    this.buffer = exports.memory.buffer
    this.#bytes = new Uint8Array(this.buffer)
    this.#exports = exports
    this.found = new Int32Array(this.buffer, exports.found.value, foundSize)
    this.call = exports
    this.#free = exports.free.value
  }

  /**
   * Memory of its own for a caller who keeps it; undefined when there is no more. Its `byteOffset` is its address, which
   * callers keep too: reading it costs more than a call.
   */
  take(sizeBytes: number): Uint8Array<ArrayBuffer> | undefined {
    const start = this.#free + margin
    const end = start + sizeBytes
    if (end + margin > this.#bytes.length) return undefined
    this.#free = (end + 15) & ~15
    return this.#bytes.subarray(start, end)
  }

  /** Prepares `call.find`, once. False when there is no room for the tables. */
  prepareSearch(tables: () => SearchTables): boolean {
    if (this.#hasTables) return true
    const { groupsByBytes: groups, counts, first, distances, others } = tables()
    if (distances.length > this.#exports.mostLiterals.value) return false
    for (const [name, table] of Object.entries({ groups, counts, first, distances, others })) {
      const { buffer, byteOffset, byteLength } = table
      this.#bytes.set(new Uint8Array(buffer, byteOffset, byteLength), this.#exports[name as Numbers].value)
    }
    return (this.#hasTables = true)
  }

  /** The key of the ids that `call.write` makes. */
  useKey(key: Uint32Array): void {
    if (key === this.#key) return
    this.#key = key
    new Uint32Array(this.buffer, this.#exports.key.value, key.length).set(key)
  }
}

/** Address of bytes that are not in the memory. */
export const nowhere = -1

/** The only such memory of a thread. Undefined where WebAssembly does not run, and until it is made. */
export let messageMemory: MessageMemory | undefined

/**
 * Not called in browsers, where a page's policy forbids WebAssembly.
 *
 * @param module its bytes, as built; undefined for none
 */
export function createMessageMemory(module: Uint8Array | undefined): MessageMemory | undefined {
  messageMemory = undefined
  if (module === undefined || !isLittleEndian) return undefined
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module))
    // A module that was cut off between its parts may have none.
    if ('memory' in exports) messageMemory = new MessageMemory(exports as Exports)
  } catch {
    // It does not run here, or there is no memory for it.
  }
  return messageMemory
}
