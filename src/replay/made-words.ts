/** Texts that are longer or have more words are not sentences, and are not searched. */
const longestText = 100_000
const mostWords = 5_000

/** White space and punctuation around a word that a server hands out. */
const between = /[\s"'`()<>[\]{},;|*]+/
/** `id=`, `Id:`; not the `http:` of a URL or the `C:` of a path. */
const label = /^[A-Za-z_-]+(?:=|:(?![/\\]))/
/** Punctuation at the end of a sentence. */
const stops = /[.:!?]+$/

/**
 * Finds values that a server made anew inside a sentence: `Created note 3f2a-…` then, `Created note 91bc-…` now. Words
 * are paired by position if both sentences have equally many. A word that occurs in both sentences is not paired.
 *
 * @param before a recorded text, decoded
 * @param looksMade whether a word may be an id, a handle or a path
 */
export function pairMadeWords(
  before: string,
  after: string,
  looksMade: (word: string) => boolean,
): (readonly [before: string, after: string])[] {
  if (before.length > longestText || after.length > longestText) return []
  const [old, now] = [wordsOf(before), wordsOf(after)]
  if (old.length < 2 || old.length !== now.length || old.length > mostWords) return []
  const [inOld, inNow] = [new Set(old), new Set(now)]
  return old.flatMap((word, i) => {
    const other = now[i]!
    const isAnew = looksMade(word) && looksMade(other) && !inNow.has(word) && !inOld.has(other)
    return isAnew ? [[word, other] as const] : []
  })
}

function wordsOf(text: string): string[] {
  return text.split(between).flatMap((piece) => {
    const word = piece.replace(label, '').replace(stops, '')
    return word === '' ? [] : [word]
  })
}
