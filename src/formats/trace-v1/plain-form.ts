import { doubleQuotes } from '../double-quotes.js'
import { createFormMemory, type FormMemory } from '../form-memory.js'
import { indentInto } from '../indent-bytes.js'
import { EntryBytes, type EntryForm } from './entry-bytes.js'
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
 * indented as an entry of a session file; for an `EntryForm`, the entry itself where possible.
 */
export type PlainForm = 'bytes' | 'quoted' | 'indented' | EntryForm

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
  return createFormMemory(chunkBytes, targetBytes, form === 'quoted' ? undefined : payloadLevel)
}

/** Brings messages of a chunk into a form. */
export class PlainEncoder {
  readonly #chunk: Uint8Array
  readonly #form: PlainForm
  readonly #target: Uint8Array
  readonly #memory: FormMemory | undefined
  readonly #entries: EntryBytes | undefined
  #size = 0
  #semicolon = -1

  /**
   * @param target of the results; messages without room keep their bytes
   * @param memory of the chunk and the target, from their first byte on
   */
  constructor(chunk: Uint8Array, form: PlainForm, target: Uint8Array, memory?: FormMemory) {
    this.#entries = typeof form === 'object' ? new EntryBytes(form) : undefined
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
    const end = this.#encoded(line)
    if (end < 0) line.encodedStart = -1
    else line.encodedEnd = this.#size = end
  }

  #encoded(line: PlainLine): number {
    if (this.#form === 'bytes') return -1
    if (this.#form === 'quoted') return this.#quoted(line)
    line.openEnd = -1
    const payload = this.#entries?.put(this.#chunk, line, this.#target, this.#size) ?? -1
    const end = payload < 0 ? -1 : this.#indented(line, payload)
    line.isEntry = end >= 0
    if (line.isEntry) return end
    line.openEnd = -1
    return this.#indented(line, this.#size)
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

  #indented({ rawStart, rawEnd }: PlainLine, at: number): number {
    if (this.#memory) return this.#memory.write(rawStart, rawEnd, at)
    return indentInto(this.#chunk.subarray(rawStart, rawEnd), this.#target, at, payloadLevel)
  }
}
