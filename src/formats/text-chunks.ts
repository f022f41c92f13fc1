import { longestMessage } from '../wire/index.js'
import type { Recording } from './format.js'
import { indentInto, isSpaced, noRoom } from './indent-bytes.js'
import { inBatches } from './iterate.js'

/** Bytes put out at a time. */
const chunkBytes = 1 << 18
/** UTF-8 takes at most so many bytes for a UTF-16 code unit. */
const mostBytesAUnit = 3

/** Characters of a very long piece that are put out at a time: its bytes need not stand beside it as a whole. */
const partLength = 1 << 20
/** Shorter runs of bytes are quicker moved one by one. */
const shortRun = 64
const QUOTE = 0x22
const utf8 = new TextEncoder()

/** Characters of the longest text that is indented, and bytes of what may become of one: readers hold it as a whole. */
const longestIndented = 16 * 1024 * 1024
const mostIndentedBytes = longestMessage
/** What indenting makes of most texts is shorter than so many times the text. */
const usualGrowth = 4

/**
 * A text, one whose quotes are written twice, as tables do it, or checked JSON text on one line: indented from a level on
 * where nothing but that is needed to have it back (see `indentInto`), else as it stands.
 */
export type Piece =
  | string
  | { readonly quoted: string }
  | { readonly indented: string; readonly level: number }

/** A text that comes in small pieces, as UTF-8 in chunks that are worth a write. */
export async function* textChunks(
  pieces: AsyncIterable<Piece>,
  { takesInTurn = false }: Pick<Recording, 'takesInTurn'> = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  // Straight into place: joining the pieces first costs four times as much as encoding them.
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
      if (typeof piece !== 'string' && 'indented' in piece) {
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
      const isText = typeof piece === 'string'
      const text = isText ? piece : piece.quoted
      // What is quoted is moved within the chunk, from behind the most that it can become.
      const most = text.length * mostBytesAUnit * (isText ? 1 : 2)
      if (size > 0 && most > chunkBytes - size) {
        yield takeChunk().subarray(0, size)
        size = 0
      }
      if (most <= chunkBytes) {
        if (isText) size += utf8.encodeInto(text, chunk.subarray(size)).written
        else size = putQuoted(text, chunk, size)
      } else {
        for (const part of partsOf(text)) yield utf8.encode(isText ? part : part.replaceAll('"', '""'))
      }
    }
  }
  yield chunk.subarray(0, size)
}

/** @returns where it ends */
function putQuoted(text: string, chunk: Uint8Array, size: number): number {
  const start = size + text.length
  const { written } = utf8.encodeInto(text, chunk.subarray(start))
  const end = start + written
  let from = start
  let to = size
  if (written > text.length) {
    while (from < end) {
      const byte = chunk[from++]!
      chunk[to++] = byte
      if (byte === QUOTE) chunk[to++] = QUOTE
    }
    return to
  }
  // A character is a byte: the engine finds the quotes.
  for (let quote = text.indexOf('"'); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    const next = start + quote + 1
    if (next - from < shortRun) while (from < next) chunk[to++] = chunk[from++]!
    else {
      chunk.copyWithin(to, from, next)
      to += next - from
      from = next
    }
    chunk[to++] = QUOTE
  }
  chunk.copyWithin(to, from, end)
  return to + end - from
}

/** Indents texts by way of memory that is used again. */
function createIndenter(): {
  /** @returns where in the chunk it ends; or the bytes themselves, for which the chunk has no room */
  put(text: string, level: number, chunk: Uint8Array, at: number): number | Iterable<Uint8Array>
} {
  let json: Uint8Array | undefined

  function put(text: string, level: number, chunk: Uint8Array, at: number): number | Iterable<Uint8Array> {
    if (text.length * mostBytesAUnit > chunkBytes) return pieceOf(text, level)
    json ??= new Uint8Array(chunkBytes)
    const source = json.subarray(0, utf8.encodeInto(text, json).written)
    const end = indentInto(source, chunk, at, level)
    if (end >= 0) return end
    if (end === noRoom) return pieceOf(text, level)
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

function* encodedParts(text: string): Generator<Uint8Array> {
  for (const part of partsOf(text)) yield utf8.encode(part)
}

/** No pair of surrogates is cut. */
function* partsOf(piece: string): Generator<string> {
  for (let at = 0; at < piece.length;) {
    const end = Math.min(piece.length, at + partLength)
    const isPair = end < piece.length && (piece.charCodeAt(end - 1) & 0xfc00) === 0xd800
    yield piece.slice(at, isPair ? end - 1 : end)
    at = isPair ? end - 1 : end
  }
}
