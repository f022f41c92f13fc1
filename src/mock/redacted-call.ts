import { redactionMarker } from '../redaction/index.js'
import {
  canonicalNumber,
  decodeString,
  elementsOf,
  jsonIn,
  kindAt,
  memberOf,
  membersOf,
  pointerStep,
  skipValue,
  type Member,
} from '../wire/index.js'

/** Values of a live call in redacted places: by tag, as exact JSON text of a string's content or of a value. */
export type SecretValues = ReadonlyMap<string, string>

/** A recorded call after redaction, to be compared with a live one. */
export interface RedactedCall {
  readonly text: string
  readonly marks: readonly { readonly at: string; readonly tag: string }[]
}

/** Deeper values must have equal text. */
const deepest = 200

/**
 * Whether a live call can be the recorded one: equal in everything that was not redacted. A redacted value may be
 * anything, but if the value of its tag is known, it must be that value.
 *
 * @returns the live call's values for the tags, or undefined
 */
export function matchRedacted(
  recorded: RedactedCall,
  live: string,
  known: SecretValues,
): Map<string, string> | undefined {
  const found = new Map<string, string>()
  const tags = new Map<string, string[]>()
  for (const { at, tag } of recorded.marks) {
    const list = tags.get(at)
    if (list) list.push(tag)
    else tags.set(at, [tag])
  }
  const recordedParams = paramsOf(recorded.text)
  const liveParams = paramsOf(live)
  if (recordedParams === undefined || liveParams === undefined) return undefined

  function take(tag: string | undefined, value: string): boolean {
    if (tag === undefined) return true
    const before = known.get(tag) ?? found.get(tag)
    if (before !== undefined) return before === value
    found.set(tag, value)
    return true
  }

  function equalStrings(a: number, b: number, at: string): boolean {
    const text = recorded.text
    const written = decodeString(text, a, skipValue(text, a))
    const tagsHere = tags.get(at) ?? []
    const end = skipValue(live, b)
    if (written === redactionMarker) return take(tagsHere[0], live.slice(b, end))
    if (kindAt(live, b) !== 'string') return false
    const said = decodeString(live, b, end)
    if (!written.includes(redactionMarker)) return written === said
    const pieces = cut(written, said)
    return pieces !== undefined && pieces.every((piece, i) => take(tagsHere[i], JSON.stringify(piece)))
  }

  function equal(a: number, b: number, at: string, depth: number): boolean {
    const text = recorded.text
    const kind = kindAt(text, a)
    if (kind === 'string') return equalStrings(a, b, at)
    if (kind !== kindAt(live, b)) return false
    if (depth === deepest || (kind !== 'object' && kind !== 'array')) {
      const [x, y] = [text.slice(a, skipValue(text, a)), live.slice(b, skipValue(live, b))]
      return kind === 'number' ? canonicalNumber(x) === canonicalNumber(y) : x === y
    }
    if (kind === 'array') {
      const [x, y] = [elementsOf(text, a), elementsOf(live, b)]
      return (
        x.length === y.length && x.every(({ start }, i) => equal(start, y[i]!.start, `${at}/${i}`, depth + 1))
      )
    }
    const [x, y] = [counting(text, a, at), counting(live, b, at)]
    if (x.size !== y.size) return false
    for (const [name, { start }] of x) {
      const other = y.get(name)
      const inner = at + pointerStep(name)
      if (!other || !equal(start, other.start, inner, depth + 1)) return false
    }
    return true
  }

  return equal(recordedParams, liveParams, '/params', 0) ? found : undefined
}

/** The members of an object by name, without those that do not affect the content of a call. */
function counting(text: string, start: number, at: string): Map<string, Member> {
  const members = new Map(membersOf(text, start).map((member) => [member.name, member]))
  if (at === '/params') {
    members.delete('_meta')
    const args = members.get('arguments')
    if (args && kindAt(text, args.start) === 'object' && membersOf(text, args.start).length === 0)
      members.delete('arguments')
  }
  return members
}

function paramsOf(text: string): number | undefined {
  const found = jsonIn(text)
  return found && memberOf(membersOf(text, found.start), 'params')?.start
}

/** Whether a live value can be a recorded string that was partly redacted. Both are JSON texts. */
export function fitsRedacted(recorded: string, live: string): boolean {
  const written = decodeString(recorded, 0, recorded.length)
  if (written === redactionMarker) return true
  return kindAt(live, 0) === 'string' && cut(written, decodeString(live, 0, live.length)) !== undefined
}

/** The parts of `said` in place of the markers in `written`; undefined when the rest differs. */
function cut(written: string, said: string): string[] | undefined {
  const [first = '', ...rest] = written.split(redactionMarker)
  if (!said.startsWith(first)) return undefined
  const pieces: string[] = []
  let from = first.length
  for (const [i, fixed] of rest.entries()) {
    const isLast = i === rest.length - 1
    const at = isLast ? said.length - fixed.length : said.indexOf(fixed, from)
    if (at < from || (isLast && !said.endsWith(fixed))) return undefined
    pieces.push(said.slice(from, at))
    from = at + fixed.length
  }
  return pieces
}
