/** The piece of a text that triggers are looked for in. One for all texts, since none is looked at while another one is. */

/** A text is looked at in pieces: small ones first, then what fits the processor's cache. */
export const firstPiece = 1024
export const largestPiece = 32_768
/** UTF-8 takes three bytes for a UTF-16 unit at most. */
export const piece = new Uint8Array(3 * largestPiece)
/** The same bytes: two pairs are looked up for each that is read. */
const fours = new Int32Array(piece.buffer)
const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** Four bytes, the first one lowest. */
export function fourAt(index: number): number {
  const four = fours[index]!
  if (isLittleEndian) return four
  return (four << 24) | ((four & 0xff00) << 8) | ((four >> 8) & 0xff00) | (four >>> 24)
}

/** Whether the piece begins where the search did, and ends with the text. */
export let isFirst = true
export let isLast = true

export function setEdges(first: boolean, last: boolean): void {
  isFirst = first
  isLast = last
}
