import { longestMessage } from '../wire/index.js'
import { doubleQuotes } from './double-quotes.js'
import type { Recording } from './format.js'
import { indentInto, isSpaced, noRoom } from './indent-bytes.js'
import { inBatches } from './iterate.js'

/** Bytes per chunk. */
const chunkBytes = 1 << 18
/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const mostBytesAUnit = 3

/** Characters of a very long piece per step, so that its bytes are never all in memory at once. */
const partLength = 1 << 20
const utf8 = new TextEncoder()

/** Limit for indentation, in characters of the text and bytes of the result: readers hold it as a whole. */
const longestIndented = 16 * 1024 * 1024
const mostIndentedBytes = longestMessage
/** Indenting lengthens most texts by less than this factor. */
const usualGrowth = 4

/**
 * A text, a text with doubled quotes for tables, or checked JSON text on one line, each also as UTF-8. JSON is indented
 * from a given level where that is reversible (see `indentInto`), otherwise unchanged.
 */
export type Piece =
  | Text
  | { readonly quoted: Text }
  | { readonly indented: Text; readonly level: number }
  | Placed
type Text = string | Uint8Array

/** A short text that writes itself. */
export interface Placed {
  /** Upper bound of its length, at most a quarter of a chunk. */
  readonly mostBytes: number
  /** @returns the end */
  put(chunk: Uint8Array, at: number): number
}

/** Joins the small pieces of a text into chunks of UTF-8 that are large enough for a write. */
export async function* textChunks(
  pieces: AsyncIterable<Piece>,
  { takesInTurn = false }: Pick<Recording, 'takesInTurn'> = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  // Encoded in place: joining the pieces first costs four times as much as encoding them.
  let chunk = new Uint8Array(chunkBytes)
  let size = 0
  let spare: typeof chunk | undefined
  const scratch = createIndenter()
  function takeChunk(): Uint8Array {
    const given = chunk
    chunk = (takesInTurn ? spare : undefined) ?? new Uint8Array(chunkBytes)
    spare = given
    return given
  }
  for await (const batch of inBatches(pieces)) {
    for (const piece of batch) {
      if (piece instanceof Uint8Array && piece.length <= chunkBytes) {
        if (piece.length > chunkBytes - size) {
          yield takeChunk().subarray(0, size)
          size = 0
        }
        chunk.set(piece, size)
        size += piece.length
        continue
      }
      if (typeof piece === 'object' && 'put' in piece) {
        if (piece.mostBytes > chunkBytes - size) {
          yield takeChunk().subarray(0, size)
          size = 0
        }
        size = piece.put(chunk, size)
        continue
      }
      if (typeof piece === 'object' && 'indented' in piece) {
        const { indented, level } = piece
        if (size > 0 && usualGrowth * indented.length > chunkBytes - size) {
          yield takeChunk().subarray(0, size)
          size = 0
        }
        const placed = scratch.put(indented, level, chunk, size)
        if (typeof placed === 'number') size = placed
        else {
          if (size > 0) yield takeChunk().subarray(0, size)
          size = 0
          yield* placed
        }
        continue
      }
      const isQuoted = typeof piece === 'object' && 'quoted' in piece
      // Quoted text is encoded at an offset and then moved within the chunk; `most` has room for both.
      const most = isQuoted ? 2 * mostBytesOf(piece.quoted) : mostBytesOf(piece)
      if (size > 0 && most > chunkBytes - size) {
        yield takeChunk().subarray(0, size)
        size = 0
      }
      if (most <= chunkBytes) size = isQuoted ? putQuoted(piece, chunk, size) : putText(piece, chunk, size)
      else if (isQuoted) yield* encodedParts(ownText(piece.quoted), '""')
      else yield* encodedParts(ownText(piece))
    }
  }
  yield chunk.subarray(0, size)
}

function mostBytesOf(text: Text): number {
  return typeof text === 'string' ? text.length * mostBytesAUnit : text.length
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function ownText(text: Text): string {
  return typeof text === 'string' ? text : decoder.decode(text)
}

/** @returns the end */
function putText(text: Text, chunk: Uint8Array, size: number): number {
  if (typeof text === 'string') return size + utf8.encodeInto(text, chunk.subarray(size)).written
  chunk.set(text, size)
  return size + text.length
}

type Quoted = Extract<Piece, { readonly quoted: unknown }>

/** @returns the end */
function putQuoted({ quoted }: Quoted, chunk: Uint8Array, size: number): number {
  const start = size + quoted.length
  return doubleQuotes(chunk, start, putText(quoted, chunk, start), chunk, size)
}

/** Indents texts in reused memory. */
function createIndenter(): {
  /** @returns the end in the chunk; or the bytes themselves, when the chunk lacks room */
  put(text: Text, level: number, chunk: Uint8Array, at: number): number | Iterable<Uint8Array>
} {
  let json: Uint8Array | undefined

  function encoded(text: string): Uint8Array {
    json ??= new Uint8Array(chunkBytes)
    return json.subarray(0, utf8.encodeInto(text, json).written)
  }

  function put(text: Text, level: number, chunk: Uint8Array, at: number): number | Iterable<Uint8Array> {
    if (mostBytesOf(text) > chunkBytes) return pieceOf(ownText(text), level)
    const source = typeof text === 'string' ? encoded(text) : text
    const end = indentInto(source, chunk, at, level)
    if (end >= 0) return end
    if (end === noRoom) return pieceOf(ownText(text), level)
    if (source.length > chunk.length - at) return [source.slice()]
    chunk.set(source, at)
    return at + source.length
  }
  return { put }
}

function pieceOf(text: string, level: number): Iterable<Uint8Array> {
  if (text.length > longestIndented) return encodedParts(text)
  const source = utf8.encode(text)
  for (let room = 2 * source.length; room <= mostIndentedBytes; room *= 2) {
    const target = new Uint8Array(room)
    const end = indentInto(source, target, 0, level)
    if (end >= 0) return [target.subarray(0, end)]
    if (end === isSpaced) break
  }
  return [source]
}

/** @param quote replacement of quotes */
function* encodedParts(text: string, quote?: string): Generator<Uint8Array> {
  for (const part of partsOf(text))
    yield utf8.encode(quote === undefined ? part : part.replaceAll('"', quote))
}

/** Surrogate pairs are never split. */
function* partsOf(piece: string): Generator<string> {
  for (let at = 0; at < piece.length;) {
    const end = Math.min(piece.length, at + partLength)
    const isPair = end < piece.length && (piece.charCodeAt(end - 1) & 0xfc00) === 0xd800
    yield piece.slice(at, isPair ? end - 1 : end)
    at = isPair ? end - 1 : end
  }
}
