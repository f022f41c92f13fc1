/** Cuts one large JSON document into the values it is made of, while it arrives. */
import { GrowingBytes } from './growing-bytes.js'
import { createJsonFollower } from './json-follower.js'
import { createResync, type ResumeNames, type ResumePoint, type Resync } from './json-resync.js'

/** The fault of a document that ends before its value does. */
export const incompleteDocument = 'the document is incomplete'

/** Where in a document: member names and element numbers, from the outside in. */
export type JsonPath = readonly (string | number)[]

/** A value of the document, or why there is none. */
export interface JsonPiece {
  /** Of a fault between two values, where the next one would stand, or the object or array itself. */
  readonly path: JsonPath
  /** The value as it stands; of a fault what stands there, as far as it was kept. */
  readonly text: string
  /** 1-based line on which it begins. */
  readonly line: number
  /** Why it is no value. In all others brackets, commas, colons and strings are right; more is not checked. */
  readonly fault?: string
  /** True when what is wrong stands before an element, and is none itself. */
  readonly between?: true
  /** What `take` made of the value. */
  readonly taken?: object | undefined
}

export interface JsonPiecesOptions {
  /** True for an object or array that comes member by member; everything else comes whole. Asked for the root's `[]` too. */
  opens(path: JsonPath, kind: 'object' | 'array'): boolean
  /** True for a value that nobody wants: it is passed over. */
  skips?(path: JsonPath): boolean
  /** How reading goes on after a broken element of an open array of objects. Without it a fault ends the document. */
  resume?(array: JsonPath): ResumeNames | undefined
  /**
   * Reads an object or array by itself that would come whole, from bytes which a line feed follows. Undefined where it
   * cannot; `more` where it could when there were more bytes.
   */
  take?(bytes: Uint8Array, at: number, length: number, path: JsonPath): TakenValue | 'more' | undefined
  /** Called when the document starts with a byte order mark, which is no part of it. */
  marked?(): void
  /** Bytes of the longest value. @default 300 MiB */
  readonly maxBytes?: number
}

/** A value that `take` has read. */
export interface TakenValue {
  /** Index after it. */
  readonly end: number
  /** Line feeds in it. */
  readonly lines: number
  readonly text: string
  readonly value: object
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
  readonly resume: ResumeNames | undefined
  /** Elements or members so far. */
  count: number
  /** Name of the first member of its elements, once one was seen. */
  firstName: string | undefined
}

/** What broke the document, while it is looked for where reading goes on. */
interface Broken {
  readonly reason: string
  readonly array: Open
  readonly inElement: boolean
  readonly resync: Resync
  readonly line: number
  /** What stands there, once there is enough of it. */
  text: string | undefined
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d
/** Bytes of a broken value that are kept. */
const keptOfFault = 65_536

/** Files that were joined are the likely reason for what looks like another document. */
function afterTheEnd(code: number): string {
  const another = code === OPEN_OBJECT || code === OPEN_ARRAY
  return `unexpected text after the value${another ? ': another document, which is not read' : ''}`
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
  /** Offset in `held`: where reading is; of a value under way, where it began. */
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

  /** A byte order mark is no part of the document. */
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

  /** A value is complete: its container goes on. */
  function taken(): void {
    const open = opened.at(-1)
    if (open) open.count += 1
    due = 'next'
  }

  /** Follows the value under way to its end. */
  function follow(last: boolean): boolean {
    const { bytes, length } = held
    const found = follower.follow(bytes, at, length)
    at = found.kind === 'more' ? length : found.at
    if (at - start > maxBytes) return breaks(`longer than ${Math.round(maxBytes / 1024 / 1024)} MiB`)
    if (found.kind === 'end') return complete(at)
    if (found.kind === 'fault') return breaks(found.reason)
    // Nothing but the end of input ends a number or word that is all of the document.
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

  /** The document stops being JSON: in the value under way, or at `at`. */
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
    // A comma or bracket too many, or a comma too few, is no element.
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

  /** Lets go of what was read. */
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
