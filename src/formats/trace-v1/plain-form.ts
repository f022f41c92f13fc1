import { messageMemory } from '../../wire/index.js'
import { doubleQuotes } from '../double-quotes.js'
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

/** Brings messages of a chunk into a form. */
export class PlainEncoder {
  readonly #chunk: Uint8Array
  readonly #form: PlainForm
  readonly #target: Uint8Array
  /** For a chunk and a target in `messageMemory`; `doubleQuotes` and `indentInto` give the same results. */
  readonly #module: NonNullable<typeof messageMemory>['call'] | undefined
  readonly #chunkAddress: number
  readonly #targetAddress: number
  readonly #entries: EntryBytes | undefined
  #size = 0
  #semicolon = -1

  /** @param target of the results; messages without room keep their bytes */
  constructor(chunk: Uint8Array, form: PlainForm, target: Uint8Array) {
    this.#entries = typeof form === 'object' ? new EntryBytes(form) : undefined
    const isInMemory = [chunk, target].every(({ buffer }) => buffer === messageMemory?.buffer)
    this.#module = isInMemory ? messageMemory?.call : undefined
    this.#chunkAddress = chunk.byteOffset
    this.#targetAddress = target.byteOffset
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
    if (this.#module) {
      const to = this.#targetAddress
      const from = this.#chunkAddress
      return this.#module.doubleQuotes(from + rawStart, from + rawEnd, to + this.#size) - to
    }
    return doubleQuotes(this.#chunk, rawStart, rawEnd, this.#target, this.#size)
  }

  #indented({ rawStart, rawEnd }: PlainLine, at: number): number {
    if (this.#module) {
      const to = this.#targetAddress
      const from = this.#chunkAddress
      const limit = to + this.#target.length
      const end = this.#module.indent(from + rawStart, from + rawEnd, to + at, limit, payloadLevel)
      return end < 0 ? -1 : end - to
    }
    return indentInto(this.#chunk.subarray(rawStart, rawEnd), this.#target, at, payloadLevel)
  }
}
