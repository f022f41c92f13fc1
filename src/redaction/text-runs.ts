import { PathStarts } from './path-start.js'
import type { RunKind } from './vendor-rules.js'
import { longestEscape, mayPrecedeWord } from './word-start.js'

/** What a run consists of, one bit a kind. */
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
 * Runs of one kind of character in a text. The last run of each kind is remembered, so asking from many places
 * inside one run reads it once: this is what keeps the patterns linear.
 */
export class TextRuns {
  readonly text: string
  /** Up to here nothing is a JWT. */
  noJwtBefore = -1
  readonly #ends = new Map<number, { readonly from: number; readonly end: number }>()
  readonly #paths: PathStarts
  #fileEnd = { dotted: -1, end: -1 }
  #lastAt = { end: -1, at: -1 }

  constructor(text: string) {
    this.text = text
    this.#paths = new PathStarts(text, (pos) => this.#is(pos, PATH))
  }

  /** Whether a word may start at `pos`: behind no letter or digit, or behind an escape that ends in one. */
  startsWord(pos: number): boolean {
    return !this.isWord(pos - 1) || mayPrecedeWord(this.text.slice(Math.max(0, pos - longestEscape), pos))
  }

  /** A letter or digit of ASCII. */
  isWord(pos: number): boolean {
    return this.#is(pos, WORD)
  }

  /** The end of a run behind a vendor's prefix; a full stop at its end belongs to the sentence. */
  endOf(kind: RunKind, pos: number): number {
    const end = this.#end(pos, kindOf[kind])
    return end > pos && (kind === 'dotted' || kind === 'token') && this.text[end - 1] === '.' ? end - 1 : end
  }

  /** Whether base64 goes on here, of which the letters before may be any piece. */
  isBase64Joint(pos: number): boolean {
    return this.text[pos] === '+' || this.text[pos] === '/'
  }

  /** Where the digits begin that end before `pos`, of which there are no more than 12. */
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

  /** The part of a URL that names user and host; beyond ASCII everything belongs to it. */
  endOfAuthority(pos: number): number {
    return this.#end(pos, AUTHORITY)
  }

  endOfToken68(pos: number): number {
    return this.#end(pos, TOKEN68)
  }

  /** The last `@` in what goes on at `pos` up to white space, a quote or a backslash; -1 when there is none. */
  lastAtSign(pos: number): number {
    const end = this.#end(pos, USERINFO)
    if (this.#lastAt.end !== end) {
      let at = end - 1
      while (at >= pos && this.text[at] !== '@') at--
      this.#lastAt = { end, at: at < pos ? -1 : at }
    }
    return this.#lastAt.at
  }

  /** The end of a file's name that goes on at `pos`. A full stop at the end belongs to the sentence. */
  endOfFileName(pos: number): number {
    const dotted = this.endOfDotted(pos)
    if (this.#fileEnd.dotted !== dotted) {
      let end = dotted
      while (end > pos && this.text[end - 1] === '.') end--
      this.#fileEnd = { dotted, end }
    }
    return Math.max(pos, this.#fileEnd.end)
  }

  /** Where the path begins that goes on at `pos`. To be asked in ascending order. */
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
