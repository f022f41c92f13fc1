/** The memory of the WebAssembly module that reads and writes plain messages (`wasm/messages.ts`). */
import { isLittleEndian } from './endian.js'
import { wasmInstance } from './wasm-module.js'

/** Functions of the module, with positions as addresses. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer }
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
  readonly address: (index: number) => number
}

/** The module may read so many bytes before and after a text. */
const margin = 16
/** Numbers of `MessageMemory.found`. */
const foundSize = 7
/** The name of each index in `address`. */
const at = { found: 0, groups: 1, counts: 2, first: 3, distances: 4, others: 5, key: 6, free: 7 } as const
/** Most literals that the module has room for. */
const mostLiterals = 4_096

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
  /** Of the last message that was read: its kind, and the start and end of id, method and subject. */
  readonly found: Int32Array
  readonly call: Pick<Exports, 'read' | 'find' | 'write'>
  readonly #bytes: Uint8Array<ArrayBuffer>
  readonly #address: (index: number) => number
  #free: number
  #hasTables = false
  #key: Uint32Array | undefined

  constructor({ memory, address, ...call }: Exports) {
    this.#bytes = new Uint8Array(memory.buffer)
    this.#address = address
    this.found = new Int32Array(memory.buffer, address(at.found), foundSize)
    this.call = call
    this.#free = address(at.free)
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
    const { groupsByBytes, counts, first, distances, others } = tables()
    if (distances.length > mostLiterals) return false
    for (const [index, table] of [
      [at.groups, groupsByBytes],
      [at.counts, counts],
      [at.first, first],
      [at.distances, distances],
      [at.others, others],
    ] as const) {
      const { buffer, byteOffset, byteLength } = table
      this.#bytes.set(new Uint8Array(buffer, byteOffset, byteLength), this.#address(index))
    }
    return (this.#hasTables = true)
  }

  /** The key of the ids that `call.write` makes. */
  useKey(key: Uint32Array): void {
    if (key === this.#key) return
    this.#key = key
    new Uint32Array(this.#bytes.buffer, this.#address(at.key), key.length).set(key)
  }
}

/** Address of bytes that are not in the memory. */
export const nowhere = -1

/** The only such memory of a thread. Undefined where WebAssembly does not run, and until it is made. */
export let messageMemory: MessageMemory | undefined

/** False for a module that was cut off between its parts. */
function isComplete(exports: Partial<Exports> | undefined): exports is Exports {
  return [exports?.memory, exports?.read, exports?.find, exports?.write, exports?.address].every(Boolean)
}

/** @param module its bytes, as built; undefined for none */
export function createMessageMemory(module: Uint8Array | undefined): MessageMemory | undefined {
  const isUsable = module !== undefined && isLittleEndian
  const exports = isUsable ? (wasmInstance(module) as Partial<Exports> | undefined) : undefined
  return (messageMemory = isComplete(exports) ? new MessageMemory(exports) : undefined)
}
