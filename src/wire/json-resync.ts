/** Member names by which reading resumes after a broken element of an array. */
export interface ResumeNames {
  /** Name of the first member of every element, until an element has been read. */
  readonly element: string
  /** Name of the member that follows the array. */
  readonly after?: string
}

/** The place to resume: at the `{` of an element, or at the `]` of the array. */
export interface ResumePoint {
  readonly kind: 'element' | 'after'
  readonly at: number
  /** Line feeds between the start of the search and the place. */
  readonly lines: number
}

/**
 * Searches broken text for the next element or the end of the array, by the names of the members with which they begin.
 * An object inside the broken element that begins with the same name is mistaken for the next element.
 */
export interface Resync {
  /** @returns undefined when there is no match up to `length`; the next call continues there */
  seek(bytes: Uint8Array, length: number): ResumePoint | undefined
  /** Earlier bytes are no longer needed. */
  needed(): number
  /** This many bytes were dropped from the front. */
  dropped(count: number): void
}

export interface ResyncStart {
  readonly at: number
  /** Whether the search begins inside an element, which is then not the next one. */
  readonly inElement: boolean
  readonly names: ResumeNames
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d

export function createResync(start: ResyncStart): Resync {
  const { names, inElement } = start
  let first = start.at
  let at = start.at
  let lines = 0
  // The last character other than white space, with its position and line.
  let code = 0
  let codeAt = start.at
  let codeLines = 0
  /** The last `]` that is followed by a comma. */
  let bracketAt = start.at
  let bracketLines = 0
  let afterBracket = false

  function pointAt(bytes: Uint8Array, length: number): ResumePoint | 'perhaps' | undefined {
    if (code === OPEN_OBJECT && (codeAt > first || !inElement)) {
      const found = isName(bytes, length, names.element)
      if (found === 'perhaps') return found
      if (found === 'yes') return { kind: 'element', at: codeAt, lines: codeLines }
    }
    if (names.after === undefined || !afterBracket || code !== COMMA) return undefined
    const found = isName(bytes, length, names.after)
    if (found === 'perhaps') return found
    return found === 'yes' ? { kind: 'after', at: bracketAt, lines: bracketLines } : undefined
  }

  /** Whether the quote at `at` begins the name; `perhaps` when the bytes end inside it. */
  function isName(bytes: Uint8Array, length: number, name: string): 'yes' | 'no' | 'perhaps' {
    for (let i = 0; i <= name.length; i += 1) {
      if (at + 1 + i >= length) return 'perhaps'
      const expected = i === name.length ? QUOTE : name.charCodeAt(i)
      if (bytes[at + 1 + i] !== expected) return 'no'
    }
    return 'yes'
  }

  function take(next: number): void {
    if (next === COMMA && code === CLOSE_ARRAY) {
      afterBracket = true
      bracketAt = codeAt
      bracketLines = codeLines
    } else afterBracket = false
    code = next
    codeAt = at
    codeLines = lines
  }

  return {
    seek(bytes, length) {
      for (; at < length; at += 1) {
        const next = bytes[at]!
        if (next === 0x0a) lines += 1
        else if (next > 0x20) {
          const point = next === QUOTE ? pointAt(bytes, length) : undefined
          if (point === 'perhaps') return undefined
          if (point) return point
          take(next)
        }
      }
      return undefined
    },
    needed: () => (afterBracket ? bracketAt : codeAt),
    dropped(count) {
      first -= count
      at -= count
      codeAt -= count
      bracketAt -= count
    },
  }
}
