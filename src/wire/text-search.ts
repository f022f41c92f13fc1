/** Searches for a text in bytes by WebAssembly, sixteen places at once. */
import { bytesOf } from './json-bytes.js'
import { messageMemory } from './message-memory.js'

/** Bytes are copied in pieces. */
const pieceBytes = 32_768
let piece: Uint8Array | undefined

/** Whether bytes contain a short ASCII text. Undefined where WebAssembly does not run. */
export function containsText(bytes: Uint8Array, text: string): boolean | undefined {
  if (piece?.buffer !== messageMemory?.buffer) piece = messageMemory?.take(pieceBytes)
  if (!messageMemory || !piece) return undefined
  const { byteOffset } = piece
  const room = pieceBytes - text.length
  piece.set(bytesOf(text), room)
  // Pieces overlap, so that the text is in one of them as a whole.
  for (let from = 0; from < bytes.length; from += room - text.length + 1) {
    const part = bytes.subarray(from, from + room)
    piece.set(part)
    const end = byteOffset + part.length
    if (messageMemory.call.contains(byteOffset, end, byteOffset + room, text.length) !== 0) return true
  }
  return false
}
