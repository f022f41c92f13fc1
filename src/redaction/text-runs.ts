import { PathStarts } from './path-start.js'
import type { RunKind } from './vendor-rules.js'
import { longestEscape, mayPrecedeWord } from './word-start.js'

/** Kinds of characters in a run, one bit each. */
const WORD = 1
const NAME = 2
const DOTTED = 4
const BASE64 = 8
const PATH = 16
const AUTHORITY = 32
const TOKEN68 = 64
const USERINFO = 128
const TOKEN = 256

const kinds = new Uint16Array(128)

function allow(characters: string, bits: number): void {
  for (const character of characters) kinds[character.charCodeAt(0)]! |= bits
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
allow(letters, WORD | NAME | DOTTED | BASE64 | PATH | AUTHORITY | TOKEN68 | USERINFO | TOKEN)
allow('_-', NAME | DOTTED)
allow('.', DOTTED)
allow('+/=', BASE64)
allow('._-~/+@%#$', PATH)
allow("-._~%!$&'()*+,;=:@[]^|{}", AUTHORITY | USERINFO)
allow('/?#', USERINFO)
allow('-._~+/=', TOKEN68 | TOKEN)

const kindOf: Readonly<Record<RunKind, number>> = {
  word: WORD,
  name: NAME,
  dotted: DOTTED,
  base64: BASE64,
  token: TOKEN,
}

/**
 * Runs of one kind of character in a text. The last run of each kind is remembered, so that queries from many
 * places inside one run read it once: this keeps the patterns linear.
 */
export class TextRuns {
  readonly text: string
  /** No JWT begins before this index. */
  noJwtBefore = -1
  readonly #ends = new Map<number, { readonly from: number; readonly end: number }>()
  readonly #paths: PathStarts
  #fileEnd = { dotted: -1, end: -1 }
  #lastAt = { end: -1, at: -1 }

  constructor(text: string) {
    this.text = text
    this.#paths = new PathStarts(text, (pos) => this.#is(pos, PATH))
  }

  /** Whether a word may start at `pos`: not after a letter or digit, unless that ends an escape. */
  startsWord(pos: number): boolean {
    return !this.isWord(pos - 1) || mayPrecedeWord(this.text.slice(Math.max(0, pos - longestEscape), pos))
  }

  /** An ASCII letter or digit. */
  isWord(pos: number): boolean {
    return this.#is(pos, WORD)
  }

  /** The end of a run after a vendor's prefix; a full stop at its end belongs to the sentence. */
  endOf(kind: RunKind, pos: number): number {
    const end = this.#end(pos, kindOf[kind])
    return end > pos && (kind === 'dotted' || kind === 'token') && this.text[end - 1] === '.' ? end - 1 : end
  }

  /** Whether base64 continues here, so that the letters before may be any piece of it. */
  isBase64Joint(pos: number): boolean {
    return this.text[pos] === '+' || this.text[pos] === '/'
  }

  /** The beginning of at most 12 digits that end before `pos`. */
  startOfDigits(pos: number): number {
    let start = pos
    while (start > pos - 12 && this.#isDigit(start - 1)) start--
    return start
  }

  /** Letters, digits, `_` and `-`: also base64url. */
  endOfName(pos: number): number {
    return this.#end(pos, NAME)
  }

  endOfDotted(pos: number): number {
    return this.#end(pos, DOTTED)
  }

  endOfBase64(pos: number): number {
    return this.#end(pos, BASE64)
  }

  endOfPath(pos: number): number {
    return this.#end(pos, PATH)
  }

  /** The end of a URL's part with user and host; all characters beyond ASCII count as part of it. */
  endOfAuthority(pos: number): number {
    return this.#end(pos, AUTHORITY)
  }

  endOfToken68(pos: number): number {
    return this.#end(pos, TOKEN68)
  }

  /** The last `@` between `pos` and the next white space, quote or backslash; -1 if there is none. */
  lastAtSign(pos: number): number {
    const end = this.#end(pos, USERINFO)
    if (this.#lastAt.end !== end) {
      let at = end - 1
      while (at >= pos && this.text[at] !== '@') at--
      this.#lastAt = { end, at: at < pos ? -1 : at }
    }
    return this.#lastAt.at
  }

  /** The end of the file name at `pos`. A full stop at its end belongs to the sentence. */
  endOfFileName(pos: number): number {
    const dotted = this.endOfDotted(pos)
    if (this.#fileEnd.dotted !== dotted) {
      let end = dotted
      while (end > pos && this.text[end - 1] === '.') end--
      this.#fileEnd = { dotted, end }
    }
    return Math.max(pos, this.#fileEnd.end)
  }

  /** The beginning of the path at `pos`. Call in ascending order. */
  startOfPath(pos: number): number {
    return this.#paths.of(pos)
  }

  #isDigit(pos: number): boolean {
    const code = this.text.charCodeAt(pos)
    return code >= 0x30 && code <= 0x39
  }

  #end(pos: number, kind: number): number {
    const known = this.#ends.get(kind)
    if (known !== undefined && known.from <= pos && pos < known.end) return known.end
    let end = pos
    while (this.#is(end, kind)) end++
    this.#ends.set(kind, { from: pos, end })
    return end
  }

  #is(pos: number, kind: number): boolean {
    const { text } = this
    if (pos < 0 || pos >= text.length) return false
    const code = text.charCodeAt(pos)
    return code < 128 ? (kinds[code]! & kind) !== 0 : (kind & (PATH | AUTHORITY | USERINFO)) !== 0
  }
}
