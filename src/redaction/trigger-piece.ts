/** The piece of a text that is searched for triggers. Shared by all texts, since they are searched one at a time. */

import { isLittleEndian } from '../wire/index.js'

/** Texts are searched in pieces: small ones first, then pieces that fit the processor's cache. */
export const firstPiece = 1024
export const largestPiece = 32_768
/** Bytes after the text that may be read with it. */
export const pieceMargin = 12
/** UTF-8 takes at most three bytes per UTF-16 unit. */
export const pieceBytes = 3 * largestPiece + pieceMargin
export let piece = new Uint8Array(pieceBytes)
/** The same bytes in fours: two pairs are looked up per read. */
let fours = new Int32Array(piece.buffer)

/** Four bytes, the first one lowest. */
export function fourAt(index: number): number {
  const four = fours[index]!
  if (isLittleEndian) return four
  return (four << 24) | ((four & 0xff00) << 8) | ((four >> 8) & 0xff00) | (four >>> 24)
}

/** Takes other memory for the piece, whose content is lost. */
export function usePiece(memory: Uint8Array<ArrayBuffer>): void {
  piece = memory
  fours = new Int32Array(memory.buffer, memory.byteOffset, memory.length >> 2)
}

/** Whether the piece is the first of the search, and the last of the text. */
export let isFirst = true
export let isLast = true

export function setEdges(first: boolean, last: boolean): void {
  isFirst = first
  isLast = last
}
