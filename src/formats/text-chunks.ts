/** Characters put out at a time. */
const textAtOnce = 1 << 18

/** A text that comes in small pieces, as UTF-8 in chunks that are worth a write. */
export async function* textChunks(
  pieces: AsyncIterable<string>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const utf8 = new TextEncoder()
  let pending: string[] = []
  let size = 0
  for await (const piece of pieces) {
    pending.push(piece)
    size += piece.length
    if (size < textAtOnce) continue
    yield utf8.encode(pending.join(''))
    pending = []
    size = 0
  }
  yield utf8.encode(pending.join(''))
}
