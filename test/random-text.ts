import * as fc from 'fast-check'

/** Random texts: characters of `characters` and whole `words`, in any order. */
export function textsOf(
  characters: string,
  words: readonly string[] = [],
  length: fc.ArrayConstraints = {},
): fc.Arbitrary<string> {
  return fc
    .array(fc.constantFrom(...Array.from(characters), ...words), length)
    .map((pieces) => pieces.join(''))
}
