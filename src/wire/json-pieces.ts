/** Splits one large JSON document into its values while it arrives. */
import { GrowingBytes } from './growing-bytes.js'
import { createJsonFollower } from './json-follower.js'
import { createResync, type ResumeNames, type ResumePoint, type Resync } from './json-resync.js'

/** The fault of a document that ends before its value does. */
export const incompleteDocument = 'the document is incomplete'

/** Where in a document: member names and element numbers, from the outside in. */
export type JsonPath = readonly (string | number)[]

/** A value of the document, or a fault. */
export interface JsonPiece {
  /** For a fault between two values: the position of the next one, or the object or array itself. */
  readonly path: JsonPath
  /** Exact text of the value; for a fault, the kept part of the invalid text. */
  readonly text: string
  /** 1-based line at which it begins. */
  readonly line: number
  /** Reason of a fault. In values, brackets, commas, colons and strings are valid; more is not checked. */
  readonly fault?: string
  /** Whether the fault is before an element, and not itself an element. */
  readonly between?: true
  /** The result of `take`. */
  readonly taken?: object | undefined
}

export interface JsonPiecesOptions {
  /** Whether an object or array is split into members; all else is one piece. Called for the root (`[]`) too. */
  opens(path: JsonPath, kind: 'object' | 'array'): boolean
  /** Whether a value is skipped. */
  skips?(path: JsonPath): boolean
  /** How to resume after a broken element of an open array of objects. Without it, a fault ends the document. */
  resume?(array: JsonPath): ResumeNames | undefined
  /**
   * Reads an object or array that would be one piece, from bytes that a line feed follows. Undefined when it cannot;
   * `more` when it needs more bytes.
   */
  take?(bytes: Uint8Array, at: number, length: number, path: JsonPath): TakenValue | 'more' | undefined
  /** Called when the document starts with a byte order mark, which is skipped. */
  marked?(): void
  /** Size limit of a value in bytes. @default 300 MiB */
  readonly maxBytes?: number
}

/** A value read by `take`. */
export interface TakenValue {
  /** Index after the value. */
  readonly end: number
  /** Line feeds in the value. */
  readonly lines: number
  readonly text: string
  readonly value: object
}

/** Bytes in, values out. Every split of the bytes gives the same values. */
export interface JsonPieces {
  push(chunk: Uint8Array): JsonPiece[]
  /** End of input. An incomplete document is a fault. */
  end(): JsonPiece[]
}

/** An open container that is split into its members. */
interface Open {
  readonly close: number
  readonly path: JsonPath
  readonly resume: ResumeNames | undefined
  /** Elements or members so far. */
  count: number
  /** Name of the first member of an element, once known. */
  firstName: string | undefined
}

/** A fault, while the place to resume is searched. */
interface Broken {
  readonly reason: string
  readonly array: Open
  readonly inElement: boolean
  readonly resync: Resync
  readonly line: number
  /** The invalid text, once there is enough of it. */
  text: string | undefined
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d
/** Bytes kept of a broken value. */
const keptOfFault = 65_536

/** A second document most likely comes from joined files. */
function afterTheEnd(code: number): string {
  const another = code === OPEN_OBJECT || code === OPEN_ARRAY
  return `unexpected text after the value${another ? ': a second document, which is ignored' : ''}`
}

type Due = 'start' | 'value' | 'first' | 'name' | 'colon' | 'next' | 'nothing'

export function createJsonPieces(options: JsonPiecesOptions): JsonPieces {
  const { maxBytes = 300 * 1024 * 1024 } = options
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const held = new GrowingBytes()
  const follower = createJsonFollower()
  const opened: Open[] = []
  let pieces: JsonPiece[] = []
  let due: Due = 'start'
  let path: JsonPath = []
  /** Offsets in `held`: the current position, and the start of the current value. */
  let at = 0
  let start = -1
  let line = 1
  let startLine = 1
  let broken: Broken | undefined
  let isLast = false

  function run(last: boolean): void {
    isLast = last
    while (due !== 'nothing' && step(last));
    drop()
  }

  function step(last: boolean): boolean {
    if (due === 'start') return passMark(last)
    if (broken) return seek(broken, last)
    if (start !== -1) return follow(last)
    const { bytes, length } = held
    for (; at < length; at += 1) {
      const code = bytes[at]!
      if (code === 0x0a) line += 1
      else if (code !== 0x20 && code !== 0x09 && code !== 0x0d) return token(code)
    }
    return false
  }

  /** A byte order mark is not part of the document. */
  function passMark(last: boolean): boolean {
    const { bytes, length } = held
    const mark = [0xef, 0xbb, 0xbf]
    const same = mark.findIndex((byte, i) => i >= length || bytes[i] !== byte)
    if (same !== -1 && same === length && !last) return false
    if (same === -1) {
      at = 3
      options.marked?.()
    }
    due = 'value'
    return true
  }

  function token(code: number): boolean {
    const open = opened.at(-1)
    if (due === 'colon') {
      if (code !== COLON) return breaks("expected ':'")
      at += 1
      due = 'value'
      return true
    }
    if (due === 'next' || due === 'first') {
      if (open && code === open.close) return closed()
      if (due === 'next') {
        if (!open) return breaks(afterTheEnd(code))
        if (code !== COMMA) return breaks(`expected ',' or '${String.fromCharCode(open.close)}'`)
        at += 1
      }
      const { close, path: outer, count } = open!
      const before = due
      due = close === CLOSE_OBJECT ? 'name' : 'value'
      if (due === 'value') path = [...outer, count]
      if (before === 'next') return true
    }
    if (due === 'name' && code !== QUOTE) return breaks('expected a member name')
    if (code === COMMA || code === COLON || code === CLOSE_ARRAY || code === CLOSE_OBJECT)
      return breaks('expected a value')
    const kind = code === OPEN_OBJECT ? 'object' : code === OPEN_ARRAY ? 'array' : undefined
    if (kind && options.opens(path, kind)) return openAs(kind)
    if (kind && options.take) {
      const found = options.take(held.bytes, at, held.length, path)
      if (found === 'more' && !isLast) return false
      if (typeof found === 'object') return takeAs(found)
    }
    start = at
    startLine = line
    follower.begin()
    return true
  }

  function takeAs({ end, lines, text, value }: TakenValue): boolean {
    pieces.push({ path, text, line, taken: value })
    line += lines
    at = end
    taken()
    return true
  }

  function openAs(kind: 'object' | 'array'): boolean {
    opened.push({
      close: kind === 'object' ? CLOSE_OBJECT : CLOSE_ARRAY,
      path,
      resume: kind === 'array' ? options.resume?.(path) : undefined,
      count: 0,
      firstName: undefined,
    })
    at += 1
    due = 'first'
    return true
  }

  function closed(): boolean {
    opened.pop()
    at += 1
    taken()
    return true
  }

  /** A value is complete, and its container continues. */
  function taken(): void {
    const open = opened.at(-1)
    if (open) open.count += 1
    due = 'next'
  }

  /** Follows the current value to its end. */
  function follow(last: boolean): boolean {
    const { bytes, length } = held
    const found = follower.follow(bytes, at, length)
    at = found.kind === 'more' ? length : found.at
    if (at - start > maxBytes) return breaks(`longer than ${Math.round(maxBytes / 1024 / 1024)} MiB`)
    if (found.kind === 'end') return complete(at)
    if (found.kind === 'fault') return breaks(found.reason)
    // A number or word that is the whole document ends only with the input.
    return last && opened.length === 0 && isWord(bytes[start]!) ? complete(length) : false
  }

  function complete(end: number): boolean {
    const wanted = due === 'name' || options.skips?.(path) !== true
    let text: string | undefined = ''
    try {
      if (wanted) text = utf8.decode(held.bytes.subarray(start, end))
    } catch {
      text = undefined
    }
    if (text === undefined) pieces.push(faultAt('not valid UTF-8', pieceText(start, end)))
    line = startLine + follower.lines()
    const open = opened.at(-1)
    if (due === 'name') {
      path = [...open!.path, nameOf(text ?? '')]
      due = 'colon'
    } else {
      if (wanted && text !== undefined) pieces.push({ path, text, line: startLine })
      if (open?.resume) open.firstName ??= firstNameIn(pieceText(start, Math.min(end, start + 256)))
      taken()
    }
    at = end
    start = -1
    return true
  }

  /** The document stops being valid JSON: in the current value, or at `at`. */
  function breaks(reason: string): boolean {
    const array = opened.findLast((open) => open.resume !== undefined)
    const inElement = start !== -1 || opened.at(-1) !== array
    if (start === -1) {
      start = at
      startLine = line
    }
    if (!array) {
      pieces.push(faultAt(reason, pieceText(start, Math.min(at + 1, start + maxBytes))))
      due = 'nothing'
      return false
    }
    while (opened.at(-1) !== array) opened.pop()
    path = [...array.path, array.count]
    const { element, after } = array.resume!
    const names = { element: array.firstName ?? element, ...(after !== undefined && { after }) }
    const resync = createResync({ at: start, inElement, names })
    broken = { reason, array, inElement, resync, line: startLine, text: undefined }
    return true
  }

  function seek(fault: Broken, last: boolean): boolean {
    const point = fault.resync.seek(held.bytes, held.length)
    if (point) return resumeAt(fault, point)
    if (last) {
      pieces.push(faultAt(fault.reason, fault.text ?? pieceText(start, held.length)))
      due = 'nothing'
    }
    return false
  }

  function resumeAt(fault: Broken, point: ResumePoint): boolean {
    const { array } = fault
    const text = fault.text ?? pieceText(start, point.at)
    // A superfluous comma or bracket, or a missing comma, is not an element.
    const isBetween = !fault.inElement && (due === 'next' || !/[^\s,]/.test(text))
    const piece = faultAt(fault.reason, text)
    pieces.push(isBetween ? { ...piece, between: true } : piece)
    broken = undefined
    start = -1
    at = point.at
    line = fault.line + point.lines
    if (!isBetween) array.count += 1
    path = [...array.path, array.count]
    due = point.kind === 'element' ? 'value' : 'first'
    return true
  }

  /** Drops the bytes that are no longer needed. */
  function drop(): void {
    let from = start === -1 ? at : start
    if (due === 'nothing') from = held.length
    else if (broken) {
      const isEnough = broken.resync.needed() - start >= keptOfFault
      if (broken.text === undefined && isEnough) broken.text = pieceText(start, held.length)
      from = broken.text === undefined ? start : broken.resync.needed()
      broken.resync.dropped(from)
    }
    held.drop(from)
    at -= from
    if (start !== -1) start = Math.max(0, start - from)
  }

  function faultAt(reason: string, text: string): JsonPiece {
    const between = due === 'name' || due === 'next' || due === 'first'
    const place = !broken && between ? (opened.at(-1)?.path ?? []) : path
    return { path: place, text, line: broken?.line ?? startLine, fault: reason }
  }

  function pieceText(from: number, to: number): string {
    return new TextDecoder().decode(held.bytes.subarray(from, Math.min(to, from + keptOfFault)))
  }

  return {
    push(chunk) {
      pieces = []
      if (due === 'nothing') return pieces
      held.add(chunk)
      run(false)
      return pieces
    },
    end() {
      pieces = []
      run(true)
      if (due !== 'nothing' && !(due === 'next' && opened.length === 0)) {
        if (start === -1) {
          start = held.length
          startLine = line
        }
        pieces.push(faultAt(incompleteDocument, pieceText(start, held.length)))
        due = 'nothing'
      }
      return pieces
    },
  }
}

function isWord(code: number): boolean {
  return code !== QUOTE && code !== OPEN_OBJECT && code !== OPEN_ARRAY
}

function firstNameIn(text: string): string | undefined {
  return /^\{\s*"([!#-[\]-~]+)"/.exec(text)?.[1]
}

function nameOf(text: string): string {
  try {
    return JSON.parse(text) as string
  } catch {
    return text.slice(1, -1)
  }
}
