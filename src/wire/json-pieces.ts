/** Cuts one large JSON document into the values it is made of, while it arrives. */
import { GrowingBytes } from './growing-bytes.js'

/** Where in a document: member names and element numbers, from the outside in. */
export type JsonPath = readonly (string | number)[]

/** A value of the document, or why there is none. */
export interface JsonPiece {
  readonly path: JsonPath
  /** The value as it stands; of a fault what stands there, as far as it was kept. */
  readonly text: string
  /** 1-based line on which it begins. */
  readonly line: number
  /** Why it is no value. Brackets and strings are balanced in all others; more is not checked. */
  readonly fault?: string
}

export interface JsonPiecesOptions {
  /** True for an object or array that comes member by member; everything else comes whole. Asked for the root's `[]` too. */
  opens(path: JsonPath): boolean
  /** True for a value that nobody wants: it is passed over. */
  skips?(path: JsonPath): boolean
  /** How reading goes on after a broken element of an open array. Without it a fault ends the document. */
  readonly resume?: {
    /** Name of the first member of every element. */
    readonly element: string
    /** Name of the member that follows the array. */
    readonly after: string
  }
  /** Bytes of the longest value. @default 300 MiB */
  readonly maxBytes?: number
}

/** Bytes in, values out: the same ones, however the bytes are cut. */
export interface JsonPieces {
  push(chunk: Uint8Array): JsonPiece[]
  /** End of input. A document that breaks off is a fault. */
  end(): JsonPiece[]
}

/** A container whose members come one by one. */
interface Open {
  readonly close: number
  readonly path: JsonPath
  /** Elements or members so far. */
  count: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d
/** Characters of a broken value that are kept. */
const keptOfFault = 65_536

type Due = 'value' | 'first' | 'name' | 'colon' | 'next' | 'nothing' | 'resume'

export function createJsonPieces(options: JsonPiecesOptions): JsonPieces {
  const { resume, maxBytes = 300 * 1024 * 1024 } = options
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const held = new GrowingBytes()
  const opened: Open[] = []
  /** Kinds of the brackets that are open inside the value under way. */
  const inside: number[] = []
  let pieces: JsonPiece[] = []
  let due: Due = 'value'
  let path: JsonPath = []
  let line = 1
  /** The value under way: where it began, and how far it was looked at. Offsets in `held`. */
  let start = -1
  let startLine = 1
  let at = 0
  let inString = false
  let escaped = false
  /** What broke the value that is being passed over. */
  let faultReason = ''

  function run(last: boolean): void {
    while (due !== 'nothing' && step(last));
    const from = start === -1 ? at : start
    held.drop(from)
    at -= from
    if (start !== -1) start = 0
  }

  /** One token or value. False when more bytes are needed. */
  function step(last: boolean): boolean {
    if (due === 'resume') return seek(last)
    if (start !== -1) return follow(last)
    const { bytes, length } = held
    for (; at < length; at += 1) {
      const code = bytes[at]!
      if (code === 0x0a) line += 1
      else if (code !== 0x20 && code !== 0x09 && code !== 0x0d) return token(code)
    }
    return false
  }

  function token(code: number): boolean {
    const open = opened.at(-1)
    if (due === 'colon') {
      if (code !== COLON) return broken("expected ':'")
      at += 1
      due = 'value'
      return true
    }
    if (due === 'next' || due === 'first') {
      if (open && code === open.close) return closed()
      if (due === 'next') {
        if (!open) return broken('unexpected text after the value')
        if (code !== COMMA) return broken(`expected ',' or '${String.fromCharCode(open.close)}'`)
        at += 1
        due = open.close === CLOSE_OBJECT ? 'name' : 'value'
        if (due === 'value') path = [...open.path, open.count]
        return true
      }
      due = open!.close === CLOSE_OBJECT ? 'name' : 'value'
      if (due === 'value') path = [...open!.path, open!.count]
    }
    if (due === 'name' && code !== QUOTE) return broken('expected a member name')
    start = at
    startLine = line
    inString = false
    escaped = false
    inside.length = 0
    if (due === 'value' && (code === OPEN_OBJECT || code === OPEN_ARRAY) && options.opens(path)) {
      opened.push({ close: code + 2, path, count: 0 })
      start = -1
      at += 1
      due = 'first'
    }
    return true
  }

  function closed(): boolean {
    opened.pop()
    at += 1
    taken()
    return true
  }

  /** A value is complete: its container goes on. */
  function taken(): void {
    const open = opened.at(-1)
    if (open) open.count += 1
    due = 'next'
  }

  /** Follows the value under way to its end. */
  function follow(last: boolean): boolean {
    const { bytes, length } = held
    const first = bytes[start]!
    if (first !== QUOTE && first !== OPEN_OBJECT && first !== OPEN_ARRAY) return followPlain(last)
    for (; at < length; at += 1) {
      const code = bytes[at]!
      if (inString) {
        if (escaped) escaped = false
        else if (code === QUOTE) {
          inString = false
          if (inside.length === 0) return complete(at + 1)
        } else if (code === BACKSLASH) escaped = true
        else if (code < 0x20) return broken('control character in a string')
      } else if (code === QUOTE) inString = true
      else if (code === 0x0a) line += 1
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) inside.push(code + 2)
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        if (inside.pop() !== code) return broken(`unexpected '${String.fromCharCode(code)}'`)
        if (inside.length === 0) return complete(at + 1)
      }
    }
    return length - start > maxBytes ? broken(`longer than ${Math.round(maxBytes / 1024 / 1024)} MiB`) : false
  }

  /** A number or a word ends with what cannot belong to it. */
  function followPlain(last: boolean): boolean {
    const { bytes, length } = held
    for (; at < length; at += 1) {
      const code = bytes[at]!
      if (code <= 0x20 || code === COMMA || code === CLOSE_ARRAY || code === CLOSE_OBJECT || code === COLON) {
        return at === start ? broken('expected a value') : complete(at)
      }
    }
    if (length - start > maxBytes) return broken('too long')
    return last ? complete(at) : false
  }

  function complete(end: number): boolean {
    const wanted = due === 'name' || !options.skips?.(path)
    let text: string | undefined = ''
    try {
      if (wanted) text = utf8.decode(held.bytes.subarray(start, end))
    } catch {
      text = undefined
    }
    if (text === undefined) pieces.push(fault('not valid UTF-8', end))
    if (due === 'name') {
      path = [...opened.at(-1)!.path, nameOf(text ?? '')]
      due = 'colon'
    } else {
      if (wanted && text !== undefined) pieces.push({ path, text, line: startLine })
      taken()
    }
    at = end
    start = -1
    return true
  }

  /** The document stops being JSON at `at`. */
  function broken(reason: string): boolean {
    if (start === -1) {
      start = at
      startLine = line
    }
    const array = resume && opened.findLast((open) => open.close === CLOSE_ARRAY)
    if (!array) {
      pieces.push(fault(reason, held.length))
      due = 'nothing'
      start = -1
      at = held.length
      return false
    }
    while (opened.at(-1) !== array) opened.pop()
    path = [...array.path, array.count]
    faultReason = reason
    due = 'resume'
    at = start
    line = startLine
    return true
  }

  /** Looks for the next element, or for what follows the array. */
  function seek(last: boolean): boolean {
    const { bytes, length } = held
    for (; at < length; at += 1) {
      if (bytes[at] === 0x0a) line += 1
      if (bytes[at] !== QUOTE) continue
      const element = isName(at, resume!.element)
      const after = isName(at, resume!.after)
      if (!last && (element === 'perhaps' || after === 'perhaps')) return false
      if (element === 'yes') {
        const brace = before(at)
        if (brace > start && bytes[brace] === OPEN_OBJECT) return resumeAt(brace, 'value')
      }
      if (after === 'yes') {
        const comma = before(at)
        const bracket = comma > start && bytes[comma] === COMMA ? before(comma) : -1
        if (bracket > start && bytes[bracket] === CLOSE_ARRAY) return resumeAt(bracket, 'first')
      }
    }
    if (length - start > maxBytes) {
      // What is broken is longer than anything we keep: its start is given up.
      start = length - keptOfFault
    }
    if (!last) return false
    pieces.push(fault(faultReason, length))
    due = 'nothing'
    start = -1
    return false
  }

  function resumeAt(offset: number, next: Due): boolean {
    pieces.push(fault(faultReason, offset))
    for (; at > offset; at -= 1) if (held.bytes[at] === 0x0a) line -= 1
    start = -1
    due = next
    const array = opened.at(-1)!
    array.count += 1
    path = [...array.path, array.count]
    return true
  }

  /** Index of the last character before `offset` that is no white space. */
  function before(offset: number): number {
    let index = offset - 1
    while (index >= 0 && held.bytes[index]! <= 0x20) index -= 1
    return index
  }

  /** Whether the quote at `offset` begins the name; perhaps, when the bytes end inside it. */
  function isName(offset: number, name: string): 'yes' | 'no' | 'perhaps' {
    const { bytes, length } = held
    for (let i = 0; i <= name.length; i += 1) {
      if (offset + 1 + i >= length) return 'perhaps'
      const expected = i === name.length ? QUOTE : name.charCodeAt(i)
      if (bytes[offset + 1 + i] !== expected) return 'no'
    }
    return 'yes'
  }

  function fault(reason: string, end: number): JsonPiece {
    const kept = held.bytes.subarray(start, Math.min(end, start + keptOfFault))
    return { path, text: new TextDecoder().decode(kept), line: startLine, fault: reason }
  }

  return {
    push(chunk) {
      pieces = []
      held.add(chunk)
      run(false)
      return pieces
    },
    end() {
      pieces = []
      run(true)
      if (due !== 'nothing' && !(due === 'next' && opened.length === 0)) {
        if (start === -1) start = at
        pieces.push(fault('the document breaks off', held.length))
        due = 'nothing'
      }
      return pieces
    },
  }
}

function nameOf(text: string): string {
  try {
    return JSON.parse(text) as string
  } catch {
    return text.slice(1, -1)
  }
}
