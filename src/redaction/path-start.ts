import { mayPrecedeWord, longestEscape } from './word-start.js'

const BACKSLASH = 0x5c

/** Escaped blanks, quotes and separators of a URL: before a path, not inside one (`/My%20Documents/.ssh`). */
const encodedJoint = /^%(?:20|0[9AaDd]|2[267CcBb]|3[ABDabd])$/

/** Finds the beginnings of paths in one text. Call in ascending order; reads every character once. */
export class PathStarts {
  readonly #text: string
  readonly #isPath: (pos: number) => boolean
  #start = 0
  #end = 0

  constructor(text: string, isPath: (pos: number) => boolean) {
    this.#text = text
    this.#isPath = isPath
  }

  /**
   * The beginning of the path that contains `pos`. A line feed written `\n`, as in JSON inside a string, is not a
   * part of it: `C:\new\.ssh` continues to the left, `cd\n~/.ssh` and `C:\\x\nD:\\.ssh` do not.
   */
  of(pos: number): number {
    const text = this.#text
    const joint = this.#backslashes(pos)
    let start = pos
    let perhaps = -1
    while (start > this.#end && (text.charCodeAt(start - 1) === BACKSLASH || this.#isPath(start - 1))) {
      const escape = this.#escapeBefore(start)
      if (escape > 0 && (escape < joint || joint === 0)) break
      if (escape > 0 && escape === joint && perhaps < 0) perhaps = start
      if (this.#isEncodedJoint(start, pos)) break
      start--
    }
    const colours = this.#coloursAt(start, pos)
    const drive = this.#driveBefore(start)
    if (start === this.#end && this.#end > 0 && start < pos) start = this.#start
    else if (drive < start) start = drive
    else if (perhaps >= 0) start = perhaps
    else start = colours
    this.#start = start
    this.#end = pos
    return start
  }

  /** Number of backslashes directly before `pos`. */
  #backslashes(pos: number): number {
    let first = pos
    while (first > this.#end && this.#text.charCodeAt(first - 1) === BACKSLASH) first--
    return pos - first
  }

  /** Number of backslashes in the escape that ends before `pos`: 1 for `\n` and `\u0022`; 0 if there is none. */
  #escapeBefore(pos: number): number {
    const text = this.#text
    if (/[nrt]/.test(text[pos - 1] ?? '') && text.charCodeAt(pos - 2) === BACKSLASH) {
      return this.#backslashes(pos - 1)
    }
    const isUnicode =
      text.charCodeAt(pos - 6) === BACKSLASH && /^u00[0-9A-Fa-f]{2}$/.test(text.slice(pos - 5, pos))
    return isUnicode ? this.#backslashes(pos - 5) : 0
  }

  #isEncodedJoint(pos: number, anchor: number): boolean {
    const text = this.#text
    if (text[pos - 3] !== '%' || !encodedJoint.test(text.slice(pos - 3, pos))) return false
    return pos === anchor || /^(?:[/~]|%2F|\.{1,2}\/)/i.test(text.slice(pos, pos + 3))
  }

  /** `32m` is the rest of a colour code: paths contain neither `[` nor `;`. */
  #coloursAt(start: number, pos: number): number {
    const before = this.#text[start - 1]
    // `=3D` in quoted-printable mail.
    if (before === '=' && start + 2 <= pos && this.#text.startsWith('3D', start)) return start + 2
    if (before !== '[' && before !== ';') return start
    const colour = /^[0-9]{0,3}m/.exec(this.#text.slice(start, Math.min(pos, start + 4)))
    return colour === null ? start : start + colour[0].length
  }

  /** The index of the drive letter before `start`, if there is one. */
  #driveBefore(start: number): number {
    const text = this.#text
    if (start - 2 < this.#end || !/^[A-Za-z]:[\\/]/.test(text.slice(start - 2, start + 1))) return start
    return mayPrecedeWord(text.slice(Math.max(0, start - 2 - longestEscape), start - 2)) ? start - 2 : start
  }
}
