/** Longer texts, and those of more words, are no sentences: nothing is looked for in them. */
const longestText = 100_000
const mostWords = 5_000

/** White space, and what stands around a word that a server hands out. */
const between = /[\s"'`()<>[\]{},;|*]+/
/** `id=`, `Id:`; not the `http:` of a URL, nor the `C:` of a path. */
const label = /^[A-Za-z_-]+(?:=|:(?![/\\]))/
/** At the end of a sentence. */
const stops = /[.:!?]+$/

/**
 * What a server made anew inside a sentence: `Created note 3f2a-…` then, `Created note 91bc-…` now. Words are taken for
 * one another by their number, where both sentences have as many; a word that stands in both of them is none of these.
 *
 * @param before a text as it was recorded, decoded
 * @param looksMade says whether a word may be an id, a handle or a path
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
