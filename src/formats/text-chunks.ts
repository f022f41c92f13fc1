/** Bytes put out at a time. */
const chunkBytes = 1 << 18
/** UTF-8 takes at most so many bytes for a UTF-16 code unit. */
const mostBytesAUnit = 3

/** Characters of a very long piece that are put out at a time: its bytes need not stand beside it as a whole. */
const partLength = 1 << 20

/** A text that comes in small pieces, as UTF-8 in chunks that are worth a write. */
export async function* textChunks(
  pieces: AsyncIterable<string>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const utf8 = new TextEncoder()
  // Straight into place: joining the pieces first costs four times as much as encoding them.
  let chunk = new Uint8Array(chunkBytes)
  let size = 0
  for await (const piece of pieces) {
    const most = piece.length * mostBytesAUnit
    if (size > 0 && most > chunkBytes - size) {
      yield chunk.subarray(0, size)
      chunk = new Uint8Array(chunkBytes)
      size = 0
    }
    if (most > chunkBytes) for (const part of partsOf(piece)) yield utf8.encode(part)
    else size += utf8.encodeInto(piece, chunk.subarray(size)).written
  }
  yield chunk.subarray(0, size)
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
