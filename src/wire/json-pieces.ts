/** Splits one large JSON document into its values while it arrives. */
import { GrowingBytes } from './growing-bytes.js'
import { JsonFollower } from './json-follower.js'
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
  return new JsonSplitter(options)
}

class JsonSplitter implements JsonPieces {
  readonly #options: JsonPiecesOptions
  readonly #maxBytes: number
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  readonly #held = new GrowingBytes()
  readonly #follower = new JsonFollower()
  readonly #opened: Open[] = []
  #pieces: JsonPiece[] = []
  #due: Due = 'start'
  #path: JsonPath = []
  /** Offsets in `held`: the current position, and the start of the current value. */
  #at = 0
  #start = -1
  #line = 1
  #startLine = 1
  #broken: Broken | undefined
  #isLast = false

  constructor(options: JsonPiecesOptions) {
    this.#options = options
    const { maxBytes = 300 * 1024 * 1024 } = options
    this.#maxBytes = maxBytes
  }

  push(chunk: Uint8Array): JsonPiece[] {
    this.#pieces = []
    if (this.#due === 'nothing') return this.#pieces
    this.#held.add(chunk)
    this.#run(false)
    return this.#pieces
  }

  end(): JsonPiece[] {
    this.#pieces = []
    this.#run(true)
    if (this.#due !== 'nothing' && !(this.#due === 'next' && this.#opened.length === 0)) {
      if (this.#start === -1) {
        this.#start = this.#held.length
        this.#startLine = this.#line
      }
      this.#pieces.push(this.#faultAt(incompleteDocument, this.#pieceText(this.#start, this.#held.length)))
      this.#due = 'nothing'
    }
    return this.#pieces
  }

  #run(last: boolean): void {
    this.#isLast = last
    while (this.#due !== 'nothing' && this.#step(last));
    this.#drop()
  }

  #step(last: boolean): boolean {
    if (this.#due === 'start') return this.#passMark(last)
    if (this.#broken) return this.#seek(this.#broken, last)
    if (this.#start !== -1) return this.#follow(last)
    const { bytes, length } = this.#held
    let at = this.#at
    for (; at < length; at += 1) {
      const code = bytes[at]!
      if (code === 0x0a) this.#line += 1
      else if (code !== 0x20 && code !== 0x09 && code !== 0x0d) break
    }
    this.#at = at
    return at < length && this.#token(bytes[at]!)
  }

  /** A byte order mark is not part of the document. */
  #passMark(last: boolean): boolean {
    const { bytes, length } = this.#held
    const mark = [0xef, 0xbb, 0xbf]
    const same = mark.findIndex((byte, i) => i >= length || bytes[i] !== byte)
    if (same !== -1 && same === length && !last) return false
    if (same === -1) {
      this.#at = 3
      this.#options.marked?.()
    }
    this.#due = 'value'
    return true
  }

  #token(code: number): boolean {
    const open = this.#opened.at(-1)
    if (this.#due === 'colon') {
      if (code !== COLON) return this.#breaks("expected ':'")
      this.#at += 1
      this.#due = 'value'
      return true
    }
    if (this.#due === 'next' || this.#due === 'first') {
      if (open && code === open.close) return this.#closed()
      if (this.#due === 'next') {
        if (!open) return this.#breaks(afterTheEnd(code))
        if (code !== COMMA) return this.#breaks(`expected ',' or '${String.fromCharCode(open.close)}'`)
        this.#at += 1
      }
      const { close, path: outer, count } = open!
      const before = this.#due
      this.#due = close === CLOSE_OBJECT ? 'name' : 'value'
      if (this.#due === 'value') this.#path = [...outer, count]
      if (before === 'next') return true
    }
    if (this.#due === 'name' && code !== QUOTE) return this.#breaks('expected a member name')
    if (code === COMMA || code === COLON || code === CLOSE_ARRAY || code === CLOSE_OBJECT)
      return this.#breaks('expected a value')
    const kind = code === OPEN_OBJECT ? 'object' : code === OPEN_ARRAY ? 'array' : undefined
    if (kind && this.#options.opens(this.#path, kind)) return this.#openAs(kind)
    if (kind && this.#options.take) {
      const found = this.#options.take(this.#held.bytes, this.#at, this.#held.length, this.#path)
      if (found === 'more' && !this.#isLast) return false
      if (typeof found === 'object') return this.#takeAs(found)
    }
    this.#start = this.#at
    this.#startLine = this.#line
    this.#follower.begin()
    return true
  }

  #takeAs({ end, lines, text, value }: TakenValue): boolean {
    this.#pieces.push({ path: this.#path, text, line: this.#line, taken: value })
    this.#line += lines
    this.#at = end
    this.#taken()
    return true
  }

  #openAs(kind: 'object' | 'array'): boolean {
    this.#opened.push({
      close: kind === 'object' ? CLOSE_OBJECT : CLOSE_ARRAY,
      path: this.#path,
      resume: kind === 'array' ? this.#options.resume?.(this.#path) : undefined,
      count: 0,
      firstName: undefined,
    })
    this.#at += 1
    this.#due = 'first'
    return true
  }

  #closed(): boolean {
    this.#opened.pop()
    this.#at += 1
    this.#taken()
    return true
  }

  /** A value is complete, and its container continues. */
  #taken(): void {
    const open = this.#opened.at(-1)
    if (open) open.count += 1
    this.#due = 'next'
  }

  /** Follows the current value to its end. */
  #follow(last: boolean): boolean {
    const { bytes, length } = this.#held
    const found = this.#follower.follow(bytes, this.#at, length)
    this.#at = found.kind === 'more' ? length : found.at
    if (this.#at - this.#start > this.#maxBytes)
      return this.#breaks(`longer than ${Math.round(this.#maxBytes / 1024 / 1024)} MiB`)
    if (found.kind === 'end') return this.#complete(this.#at)
    if (found.kind === 'fault') return this.#breaks(found.reason)
    // A number or word that is the whole document ends only with the input.
    return last && this.#opened.length === 0 && isWord(bytes[this.#start]!) ? this.#complete(length) : false
  }

  #complete(end: number): boolean {
    const wanted = this.#due === 'name' || this.#options.skips?.(this.#path) !== true
    let text: string | undefined = ''
    try {
      if (wanted) text = this.#utf8.decode(this.#held.bytes.subarray(this.#start, end))
    } catch {
      text = undefined
    }
    if (text === undefined)
      this.#pieces.push(this.#faultAt('not valid UTF-8', this.#pieceText(this.#start, end)))
    this.#line = this.#startLine + this.#follower.lines()
    const open = this.#opened.at(-1)
    if (this.#due === 'name') {
      this.#path = [...open!.path, nameOf(text ?? '')]
      this.#due = 'colon'
    } else {
      if (wanted && text !== undefined) this.#pieces.push({ path: this.#path, text, line: this.#startLine })
      if (open?.resume)
        open.firstName ??= firstNameIn(this.#pieceText(this.#start, Math.min(end, this.#start + 256)))
      this.#taken()
    }
    this.#at = end
    this.#start = -1
    return true
  }

  /** The document stops being valid JSON: in the current value, or at `at`. */
  #breaks(reason: string): boolean {
    const array = this.#opened.findLast((open) => open.resume !== undefined)
    const inElement = this.#start !== -1 || this.#opened.at(-1) !== array
    if (this.#start === -1) {
      this.#start = this.#at
      this.#startLine = this.#line
    }
    if (!array) {
      this.#pieces.push(
        this.#faultAt(
          reason,
          this.#pieceText(this.#start, Math.min(this.#at + 1, this.#start + this.#maxBytes)),
        ),
      )
      this.#due = 'nothing'
      return false
    }
    while (this.#opened.at(-1) !== array) this.#opened.pop()
    this.#path = [...array.path, array.count]
    const { element, after } = array.resume!
    const names = { element: array.firstName ?? element, ...(after !== undefined && { after }) }
    const resync = createResync({ at: this.#start, inElement, names })
    this.#broken = { reason, array, inElement, resync, line: this.#startLine, text: undefined }
    return true
  }

  #seek(fault: Broken, last: boolean): boolean {
    const point = fault.resync.seek(this.#held.bytes, this.#held.length)
    if (point) return this.#resumeAt(fault, point)
    if (last) {
      this.#pieces.push(
        this.#faultAt(fault.reason, fault.text ?? this.#pieceText(this.#start, this.#held.length)),
      )
      this.#due = 'nothing'
    }
    return false
  }

  #resumeAt(fault: Broken, point: ResumePoint): boolean {
    const { array } = fault
    const text = fault.text ?? this.#pieceText(this.#start, point.at)
    // A superfluous comma or bracket, or a missing comma, is not an element.
    const isBetween = !fault.inElement && (this.#due === 'next' || !/[^\s,]/.test(text))
    const piece = this.#faultAt(fault.reason, text)
    this.#pieces.push(isBetween ? { ...piece, between: true } : piece)
    this.#broken = undefined
    this.#start = -1
    this.#at = point.at
    this.#line = fault.line + point.lines
    if (!isBetween) array.count += 1
    this.#path = [...array.path, array.count]
    this.#due = point.kind === 'element' ? 'value' : 'first'
    return true
  }

  /** Drops the bytes that are no longer needed. */
  #drop(): void {
    let from = this.#start === -1 ? this.#at : this.#start
    if (this.#due === 'nothing') from = this.#held.length
    else if (this.#broken) {
      const isEnough = this.#broken.resync.needed() - this.#start >= keptOfFault
      if (this.#broken.text === undefined && isEnough)
        this.#broken.text = this.#pieceText(this.#start, this.#held.length)
      from = this.#broken.text === undefined ? this.#start : this.#broken.resync.needed()
      this.#broken.resync.dropped(from)
    }
    this.#held.drop(from)
    this.#at -= from
    if (this.#start !== -1) this.#start = Math.max(0, this.#start - from)
  }

  #faultAt(reason: string, text: string): JsonPiece {
    const between = this.#due === 'name' || this.#due === 'next' || this.#due === 'first'
    const place = !this.#broken && between ? (this.#opened.at(-1)?.path ?? []) : this.#path
    return { path: place, text, line: this.#broken?.line ?? this.#startLine, fault: reason }
  }

  #pieceText(from: number, to: number): string {
    return new TextDecoder().decode(this.#held.bytes.subarray(from, Math.min(to, from + keptOfFault)))
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
