import type { Condition, TextTest } from './condition.js'

/**
 * A pattern for the bytes of a tape, as Latin-1 text. Without a match, the bytes contain no row that matches the
 * filter. False positives are possible.
 */
export interface Needle {
  readonly pattern: RegExp
  /** Longest match in bytes: chunks of a file must overlap by this much. */
  readonly mostBytes: number
}

/** Pattern that a recording must contain for a row to match the filter; undefined if bytes cannot decide. */
export function needleOf(condition: Condition): Needle | undefined {
  const texts = textsOf(condition)
  if (!texts) return undefined
  const parts = texts.map(bytesOfText)
  if (parts.some((part) => part === undefined)) return undefined
  return {
    pattern: new RegExp(parts.map((part) => part!.source).join('|'), 'i'),
    mostBytes: Math.max(...parts.map((part) => part!.mostBytes)),
  }
}

/** Texts of which a matching recording contains at least one. */
function textsOf(condition: Condition): readonly string[] | undefined {
  switch (condition.kind) {
    case 'all': {
      const known = condition.of.flatMap((each) => {
        const texts = textsOf(each)
        return texts ? [texts] : []
      })
      // The longest text occurs in the fewest recordings.
      return known.toSorted((a, b) => shortest(b) - shortest(a))[0]
    }
    case 'any': {
      const texts = condition.of.map(textsOf)
      return texts.every((each) => each !== undefined) ? texts.flat() : undefined
    }
    case 'word':
    case 'text':
      return neededTexts(condition.test)
    case 'name':
      // Names of conversations may be generated on reading.
      return condition.field === 'conversation' ? undefined : neededTexts(condition.test)
    case 'path':
      if (condition.test.how === 'text') return neededTexts(condition.test.test)
      if (condition.test.how !== 'compare' || condition.test.operator !== '=') return undefined
      return typeof condition.test.value === 'string' ? some(condition.test.value) : undefined
    default:
      return undefined
  }
}

function neededTexts({ how, text }: TextTest): readonly string[] | undefined {
  if (how === 'pattern') return undefined
  return some(how === 'glob' ? longestOf(text.split('*')) : text)
}

function some(text: string): readonly string[] | undefined {
  return longestOf(text.split(escaped)) === '' ? undefined : [text]
}

function shortest(texts: readonly string[]): number {
  return Math.min(...texts.map((text) => text.length))
}

/** Characters that JSON escapes, or may escape, with a backslash of their own. */
const escaped = /[\u0000-\u001f"\\/\u007f]/
const unlikePlain = /[^\u0020-\u007e]/
/** Shortest useful run of ASCII: shorter ones match too much. */
const enough = 3

function bytesOfText(text: string): { source: string; mostBytes: number } | undefined {
  const run = longestOf(text.split(escaped))
  const plain = longestOf(run.split(unlikePlain))
  if (plain.length >= enough || plain === run) {
    // Each character may also be written as \u0061. A single such escape counts as a match.
    const codes = [...new Set(plain.toLowerCase() + plain.toUpperCase())].map(hexOf)
    const source = `${quoted(plain)}|${quoted(String.raw`\u`)}(?:${codes.join('|')})`
    return plain === '' ? undefined : { source, mostBytes: Math.max(6, plain.length) }
  }
  const points = Array.from(run)
  const source = points.map((point) => `(?:${writtenAs(point).join('|')})`).join('')
  return { source, mostBytes: points.length * 12 }
}

/** A character outside ASCII in UTF-8 and as an escape, in either letter case. */
function writtenAs(point: string): string[] {
  const forms = new Set([point])
  if (point.length === 1) {
    // Equal under the comparison that the `i` flag makes.
    const upper = point.toUpperCase()
    for (let code = 0; code < 0xd800; code += 1) {
      const other = String.fromCharCode(code)
      if (other.toUpperCase() === upper) forms.add(other)
    }
  }
  return [...forms].flatMap((form) => {
    const bytes = String.fromCharCode(...new TextEncoder().encode(form))
    const units = Array.from({ length: form.length }, (_, i) => `${String.raw`\\u`}${hexOf(form[i]!)}`)
    return [quoted(bytes), units.join('')]
  })
}

function hexOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, '0')
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)
}

function longestOf(texts: readonly string[]): string {
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '')
}
