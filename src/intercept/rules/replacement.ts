import type { RE2JS } from 're2js'

/** A piece of a replacement: literal text, or the match of a group. */
export type ReplacementPiece = { readonly text: string } | { readonly group: number | string }

/**
 * Parses `$1`, `$0`, `${name}` and `$$` in a replacement. Returns the problem, in words, if it names a group that
 * the pattern does not have.
 */
export function parseReplacement(text: string, pattern: RE2JS): readonly ReplacementPiece[] | string {
  const pieces: ReplacementPiece[] = []
  const names = new Set(Object.keys(pattern.namedGroups()))
  const groups = pattern.groupCount()
  let kept = 0
  for (const match of text.matchAll(/\$(?:(\$)|(\d{1,2})|\{([^}]*)\})/g)) {
    const [whole, dollar, digits, name] = match
    if (match.index > kept) pieces.push({ text: text.slice(kept, match.index) })
    kept = match.index + whole.length
    if (dollar !== undefined) pieces.push({ text: '$' })
    else if (digits !== undefined) {
      const group = Number(digits)
      if (group > groups) return `has $${group}, but the pattern has ${groups} groups`
      pieces.push({ group })
    } else {
      if (!names.has(name!)) return `has \${${name}}, but the pattern has no group of that name`
      pieces.push({ group: name! })
    }
  }
  if (kept < text.length) pieces.push({ text: text.slice(kept) })
  return pieces
}

/** Number of matches between two time checks. */
const matchesBetween = 64

/**
 * Replaces every match; undefined if there is none. One search takes linear time, but each match starts another, and
 * a pattern such as `a.*b|a` may read to the end every time: hence the time limit.
 *
 * @param longest limit for the result, in characters
 * @param isLate whether the time limit has passed
 * @throws RangeError if it takes too long, or gets too long
 */
export function replaceAll(
  text: string,
  pattern: RE2JS,
  pieces: readonly ReplacementPiece[],
  longest: number,
  isLate: () => boolean,
): string | undefined {
  const matcher = pattern.matcher(text)
  let kept = 0
  let length = 0
  let matches = 0
  const parts: string[] = []
  const add = (part: string): void => {
    parts.push(part)
    length += part.length
    if (length > longest) throw new RangeError('the result would be too long')
  }
  while (matcher.find()) {
    add(text.slice(kept, matcher.start()))
    for (const piece of pieces) add('text' in piece ? piece.text : (matcher.group(piece.group) ?? ''))
    kept = matcher.end()
    matches += 1
    if (matches % matchesBetween === 0 && isLate())
      throw new RangeError('it takes too long: the pattern matches too often')
  }
  if (matches === 0) return undefined
  add(text.slice(kept))
  return parts.join('')
}
