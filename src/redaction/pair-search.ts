/** The search of a long piece of text for pairs of characters, by WebAssembly. */
import { messageMemory } from '../wire/index.js'
import type { TriggerPairs } from './trigger-pairs.js'
import { pieceBytes, usePiece } from './trigger-piece.js'

interface PairSearch {
  /**
   * Index of the next eight bytes of the piece that a literal may be around; at least `end` if there are none.
   *
   * @param start a multiple of eight above zero
   */
  find(start: number, end: number): number
}

/** Texts of this length are worth the search. */
export const longText = 4_096
/** Undefined until it is prepared, and where WebAssembly does not run. */
export let pairSearch: PairSearch | undefined
let isPrepared = false

/** Makes the search on the first call. The piece is then in its memory. */
export function preparePairSearch(pairs: TriggerPairs): void {
  if (isPrepared) return
  isPrepared = true
  const memory = messageMemory
  const room = memory?.take(pieceBytes)
  if (!memory || !room || !memory.prepareSearch(() => pairs)) return
  usePiece(room)
  const { byteOffset } = room
  const { find } = memory.call
  // The function reads two bytes beyond the end.
  pairSearch = { find: (start, end) => find(byteOffset + start, byteOffset + end - 2) - byteOffset }
}
