import { bytesOf, matches, skipNumber, skipText } from '../../wire/index.js'

/** Puts a payload on one line and validates it. */
export interface PayloadScan {
  /**
   * Writes the payload at `start`, preceded by the bytes from `from`, to `out`. A line feed must follow the bytes.
   *
   * @returns the index after the payload, or -1 when it is no object, incomplete, or deeply nested
   */
  pass(bytes: Uint8Array, from: number, start: number, end: number): number
  /** Valid until the next call. There is room for one more byte. */
  readonly out: Uint8Array
  readonly size: number
  /** Line feeds between its tokens. */
  readonly lines: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** The engine copies longer runs of bytes faster. */
const longRun = 64
const deepest = 200
const words = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), bytesOf(word)]))

export function createPayloadScan(): PayloadScan {
  let out = new Uint8Array(1 << 16)
  let size = 0
  let lines = 0
  let spaces = 0
  /** Closing brackets of the open containers. */
  const closing = new Uint8Array(deepest)

  function pass(bytes: Uint8Array, from: number, start: number, end: number): number {
    if (out.length < end - from + 1) out = new Uint8Array(2 * (end - from) + 1)
    size = 0
    lines = 0
    spaces = 0
    copy(bytes, from, start)
    if (bytes[start] !== OPEN_OBJECT) return -1
    const after = walk(bytes, start)
    if (after < 0 || after > end) return -1
    // Text on one line is unchanged.
    if (spaces > 0 && lines === 0) {
      size = start - from
      copy(bytes, start, after)
    }
    return after
  }

  function copy(bytes: Uint8Array, from: number, to: number): void {
    if (to - from < longRun) for (let at = from; at < to; at += 1) out[size++] = bytes[at]!
    else {
      out.set(bytes.subarray(from, to), size)
      size += to - from
    }
  }

  function skipSpace(bytes: Uint8Array, start: number): number {
    let at = start
    for (let byte = bytes[at]!; byte <= 0x20; byte = bytes[at]!) {
      if (byte === 0x0a) lines += 1
      else if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return at
      spaces += 1
      at += 1
    }
    return at
  }

  function walk(bytes: Uint8Array, start: number): number {
    let at = start
    let depth = 0
    let isName = false
    for (;;) {
      if (isName) {
        at = name(bytes, at)
        if (at < 0) return -1
      }
      const code = bytes[at]!
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        out[size++] = code
        at = skipSpace(bytes, at + 1)
        if (bytes[at] === code + 2) {
          out[size++] = code + 2
          at += 1
        } else {
          if (depth === deepest) return -1
          closing[depth++] = code + 2
          isName = code === OPEN_OBJECT
          continue
        }
      } else {
        at = plain(bytes, at, code)
        if (at < 0) return -1
      }
      for (;;) {
        if (depth === 0) return at
        at = skipSpace(bytes, at)
        const next = bytes[at]!
        if (next !== COMMA && next !== closing[depth - 1]) return -1
        out[size++] = next
        at += 1
        if (next === COMMA) {
          at = skipSpace(bytes, at)
          isName = closing[depth - 1] === CLOSE_OBJECT
          break
        }
        depth -= 1
      }
    }
  }

  /** A member's name and its colon. */
  function name(bytes: Uint8Array, start: number): number {
    if (bytes[start] !== QUOTE) return -1
    const end = skipText(bytes, start + 1)
    if (end < 0) return -1
    copy(bytes, start, end)
    const colon = skipSpace(bytes, end)
    if (bytes[colon] !== COLON) return -1
    out[size++] = COLON
    return skipSpace(bytes, colon + 1)
  }

  /** A value that contains no other values. */
  function plain(bytes: Uint8Array, start: number, code: number): number {
    const end = plainEnd(bytes, start, code)
    if (end >= 0) copy(bytes, start, end)
    return end
  }

  return {
    pass,
    get out() {
      return out
    },
    get size() {
      return size
    },
    get lines() {
      return lines
    },
  }
}

/** The index after a string, word or number; -1 if it is none. */
function plainEnd(bytes: Uint8Array, start: number, code: number): number {
  if (code === QUOTE) return skipText(bytes, start + 1)
  const word = words.get(code)
  if (!word) return skipNumber(bytes, start)
  return matches(bytes, start, word) ? start + word.length : -1
}
