import { doubleQuotes } from '../double-quotes.js'
import { createFormMemory, type FormMemory } from '../form-memory.js'
import { indentInto } from '../indent-bytes.js'
import type { PlainLine } from './plain-line.js'
import { readPlainLine, readPlainMessage } from './read-plain-line.js'

/** Formats of which lines are read as bytes. */
export type PlainFormat = 'trace-v1' | 'jsonrpc'

/** Reads the line at `start`; see `readPlainLine`. */
export type ReadPlain = typeof readPlainLine

export const plainReaders: Readonly<Record<PlainFormat, ReadPlain>> = {
  'trace-v1': readPlainLine,
  jsonrpc: readPlainMessage,
}

/**
 * The form in which a writer needs messages: unchanged, for a quoted cell of a table (unless it has a semicolon), or
 * indented as an entry of a session file.
 */
export type PlainForm = 'bytes' | 'quoted' | 'indented'

/** Indentation level of a payload in a session file. */
export const payloadLevel = 3

const SEMICOLON = 0x3b

/** Memory in which chunks are brought into a form faster; undefined where there is none. */
export function createPlainMemory(
  form: PlainForm,
  chunkBytes: number,
  targetBytes: number,
): FormMemory | undefined {
  if (form === 'bytes') return undefined
  return createFormMemory(chunkBytes, targetBytes, form === 'indented' ? payloadLevel : undefined)
}

/** Brings messages of a chunk into a form. */
export class PlainEncoder {
  readonly #chunk: Uint8Array
  readonly #form: PlainForm
  readonly #target: Uint8Array
  readonly #memory: FormMemory | undefined
  #size = 0
  #semicolon = -1

  /**
   * @param target of the results; messages without room keep their bytes
   * @param memory of the chunk and the target, from their first byte on
   */
  constructor(chunk: Uint8Array, form: PlainForm, target: Uint8Array, memory?: FormMemory) {
    this.#memory = memory
    this.#chunk = chunk
    this.#form = form
    this.#target = target
  }

  /** Bytes used of the target. */
  get size(): number {
    return this.#size
  }

  /** Notes the place of the result in the line. Lines ascend. */
  encode(line: PlainLine): void {
    line.encodedStart = this.#size
    const end =
      this.#form === 'bytes' ? -1 : this.#form === 'quoted' ? this.#quoted(line) : this.#indented(line)
    if (end < 0) line.encodedStart = -1
    else line.encodedEnd = this.#size = end
  }

  #quoted({ rawStart, rawEnd }: PlainLine): number {
    if (this.#semicolon < rawStart) {
      const found = this.#chunk.indexOf(SEMICOLON, rawStart)
      this.#semicolon = found < 0 ? Infinity : found
    }
    if (this.#semicolon < rawEnd || 2 * (rawEnd - rawStart) > this.#target.length - this.#size) return -1
    if (this.#memory) return this.#memory.write(rawStart, rawEnd, this.#size)
    return doubleQuotes(this.#chunk, rawStart, rawEnd, this.#target, this.#size)
  }

  #indented({ rawStart, rawEnd }: PlainLine): number {
    if (this.#memory) return this.#memory.write(rawStart, rawEnd, this.#size)
    return indentInto(this.#chunk.subarray(rawStart, rawEnd), this.#target, this.#size, payloadLevel)
  }
}
