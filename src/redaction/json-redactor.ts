import {
  decodeString,
  skipString,
  skipValue,
  skipWhiteSpace,
  spliceText,
  type TextEdit,
} from '../wire/index.js'
import type { RedactionMark } from '../model/index.js'
import { isTokenTable } from './assigned-value.js'
import { mostMarks, sourceOffsets, toEdits, TooManyMarks } from './finding.js'
import { JsonNeighbours } from './json-neighbours.js'
import { JsonPathStack } from './json-path-stack.js'
import { marker } from './marker.js'
import { elementPlace, memberPlace, type McpPlace } from './mcp-places.js'
import { isPlaceholder, looksLikeCredentials, looksMade } from './secret-looks.js'
import { judgeName, nameCache, type NameVerdict } from './secret-names.js'
import type { TextRedactor } from './text-redactor.js'
import { findTrigger, hasTrigger } from './trigger.js'

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/** A value that is replaced as a whole, whatever it contains. */
export interface WholeValue {
  /** Index after the value. */
  readonly end: number
  readonly rule: string
}

/** The inputs of reading one JSON text. */
export interface JsonRules {
  /** No secrets for the default rules before this index; Infinity without them. */
  readonly trigger: number
  readonly text: TextRedactor
  /** By the start index of the value. */
  readonly whole: ReadonlyMap<number, WholeValue>
  readonly counted: (rule: string) => void
  readonly tag: (secret: string) => string
}

export interface RedactedJson {
  readonly raw: string
  readonly red: readonly RedactionMark[]
}

/** The verdicts on a member's name. */
interface KnownName {
  /** Undefined when the name implies nothing about its value. */
  readonly verdict: NameVerdict | undefined
  /** The name itself may hold a secret. */
  readonly suspicious: boolean
}

const noName: KnownName = { verdict: undefined, suspicious: false }
/** By the name as written between quotes. */
const names = nameCache<KnownName>((written) => {
  const name = written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written
  const verdict = judgeName(name)
  // A short word of letters is neither a token nor a path.
  const suspicious = !/^[A-Za-z]{1,15}$/.test(written) && hasTrigger(written)
  return verdict === undefined && !suspicious ? noName : { verdict, suspicious }
})

/** A verdict that makes any value a secret. */
function anyValue(term: string): NameVerdict {
  return { term, needs: 'any' }
}
const schemaValue = anyValue('schema-value')
const requestState = anyValue('request-state')

/** Redacts one checked JSON text; undefined if no secrets. Reads it once, without recursion. Throws TooManyMarks. */
export function redactJson(text: string, rules: JsonRules): RedactedJson | undefined {
  return new JsonReading(text, rules).run()
}

/** A mark without its tag. */
type FoundMark = Omit<RedactionMark, 'tag'> & { readonly secret: string }

class JsonReading {
  readonly #text: string
  readonly #rules: JsonRules
  readonly #path: JsonPathStack
  readonly #places: McpPlace[] = []
  readonly #edits: TextEdit[] = []
  readonly #red: FoundMark[] = []
  /** For the current value: its place, and the verdict of its name. */
  #place: McpPlace = 'frame'
  #verdict: NameVerdict | undefined
  readonly #neighbours: JsonNeighbours
  /** The current member's value may be the name of another value. */
  #isNaming = false
  /** There is no trigger before this index. */
  #trigger: number

  constructor(text: string, rules: JsonRules) {
    this.#text = text
    this.#rules = rules
    this.#path = new JsonPathStack(text)
    this.#neighbours = new JsonNeighbours(text)
    this.#trigger = rules.trigger
  }

  run(): RedactedJson | undefined {
    const text = this.#text
    let pos = skipWhiteSpace(text, 0)
    if (text.charCodeAt(pos) !== OPEN_ARRAY) this.#place = 'message'
    for (;;) {
      const inside = this.#value(pos)
      if (inside > 0) {
        pos = inside
        continue
      }
      pos = skipWhiteSpace(text, -inside)
      while (this.#path.depth > 0 && text.charCodeAt(pos) !== COMMA) {
        this.#path.leave()
        this.#places.length--
        pos = skipWhiteSpace(text, pos + 1)
      }
      if (this.#path.depth === 0) break
      pos = this.#path.inObject ? this.#member(pos + 1) : this.#element(pos + 1)
    }
    if (this.#edits.length === 0) return undefined
    // Tags cost more than everything else: created only once the number of marks is within the limit.
    const { tag } = this.#rules
    const red = this.#red.map(({ secret, ...mark }) => ({ ...mark, tag: tag(secret) }))
    return { raw: spliceText(text, this.#edits), red }
  }

  /** Reads the value at `pos`. Returns the index of the first value inside it, or the negated index of its end. */
  #value(pos: number): number {
    const text = this.#text
    const whole = this.#rules.whole.size > 0 ? this.#rules.whole.get(pos) : undefined
    if (whole !== undefined) {
      this.#replace(pos, whole.end, whole.rule)
      return -whole.end
    }
    const code = text.charCodeAt(pos)
    if (code === QUOTE) {
      const end = skipString(text, pos)
      if (this.#isNaming || !this.#path.inObject) this.#fromNeighbours(pos, end)
      if (end - pos > 2 && this.#isSecret(pos, end)) this.#replace(pos, end, ruleOf(this.#verdict))
      else this.#string(pos, end)
      return -end
    }
    if (code !== OPEN_OBJECT && code !== OPEN_ARRAY) return -skipPlain(text, pos)
    const first = skipWhiteSpace(text, pos + 1)
    // The code of the closing bracket is that of the opening one plus two.
    if (text.charCodeAt(first) === code + 2) return -(first + 1)
    if (this.#verdict?.needs === 'any' && this.#goesWhole(pos, code)) {
      const end = skipValue(text, pos)
      this.#replace(pos, end, ruleOf(this.#verdict))
      return -end
    }
    this.#path.enter(code === OPEN_OBJECT)
    this.#neighbours.enter(this.#path.depth)
    this.#places.push(this.#place)
    if (code === OPEN_OBJECT) return this.#member(first)
    this.#place = elementPlace(this.#place)
    this.#verdict = undefined
    return first
  }

  /** Applies the verdict of the previous element or member to this string, and notes this one's verdict on the next. */
  #fromNeighbours(pos: number, end: number): void {
    const { depth, inObject } = this.#path
    if (depth === 0 || end - pos > longestName || this.#place === 'documentation') return
    if (inObject) {
      if (this.#hasTrigger(pos, end)) this.#neighbours.named(depth, decodeString(this.#text, pos, end))
    } else this.#verdict = this.#neighbours.ofElement(depth, decodeString(this.#text, pos, end))
  }

  /** Whether the string from `pos` to `end` is a secret because of its name. */
  #isSecret(pos: number, end: number): boolean {
    if (this.#verdict === undefined) return false
    const { term, needs } = this.#verdict
    if (end - pos > longestName) return needs !== 'made' || looksMade(decodeString(this.#text, pos, end))
    const value = decodeString(this.#text, pos, end)
    if (isPlaceholder(value)) return false
    if (term === 'pwd') return !/^(?:[~.]{0,2}\/|[A-Za-z]:[\\/])/.test(value)
    if (needs === 'credentials') return looksLikeCredentials(value, term === 'password')
    return needs === 'any' || looksMade(value)
  }

  /** Whether an object or array under a secret's name is a secret: not a schema, and not counts of tokens. */
  #goesWhole(pos: number, code: number): boolean {
    const head = this.#text.slice(pos, pos + longestHead)
    if (code !== OPEN_OBJECT || this.#verdict === schemaValue) return true
    if (schema.test(head)) {
      this.#place = 'secret-schema'
      return false
    }
    return !(this.#verdict?.term === 'token' && isTokenTable(head))
  }

  /** Index of the next element, whose place is now known. */
  #element(pos: number): number {
    this.#path.nextElement()
    this.#place = elementPlace(this.#places.at(-1) ?? 'plain')
    this.#verdict = undefined
    this.#isNaming = false
    return skipWhiteSpace(this.#text, pos)
  }

  /** Index of the next member's value, whose place and rule are now known. */
  #member(pos: number): number {
    const text = this.#text
    const nameStart = skipWhiteSpace(text, pos)
    const nameEnd = skipString(text, nameStart)
    this.#path.member(nameStart, nameEnd)
    const { text: textRules } = this.#rules
    const written = text.slice(nameStart + 1, nameEnd - 1)
    const { verdict, suspicious } = this.#hasTrigger(nameStart, nameEnd) ? names.get(written) : noName
    if (suspicious || textRules.hasRules) this.#within(nameStart, nameEnd, suspicious, true)
    const start = skipWhiteSpace(text, skipWhiteSpace(text, nameEnd) + 1)

    const around = this.#places.at(-1) ?? 'plain'
    this.#isNaming = JsonNeighbours.isNaming(written)
    if (around === 'plain') {
      this.#place = 'plain'
      const isRead = this.#rules.trigger !== Infinity
      this.#verdict = verdict ?? (isRead ? this.#neighbours.ofMember(this.#path.depth, written) : undefined)
    } else {
      const name = written.includes('\\') ? decodeString(text, nameStart, nameEnd) : written
      const { place, key } = memberPlace(around, name, kindOf(text.charCodeAt(start)), verdict !== undefined)
      this.#place = place
      if (key === 'secret') this.#verdict = schemaValue
      else if (key === 'state') this.#verdict = requestState
      else this.#verdict = key === 'exempt' ? undefined : verdict
    }
    return start
  }

  #string(start: number, end: number): void {
    const suspicious = this.#place !== 'handle' && this.#hasTrigger(start, end)
    if (suspicious || this.#rules.text.hasRules) this.#within(start, end, suspicious, false)
  }

  /** Whether the default rules must read the string or name from `start` to `end`. Call in ascending order. */
  #hasTrigger(start: number, end: number): boolean {
    if (this.#trigger < start) {
      const found = findTrigger(this.#text, start)
      this.#trigger = found < 0 ? Infinity : found
    }
    return this.#trigger < end
  }

  /** Redacts secrets in the string (or name) from `start` to `end`. */
  #within(start: number, end: number, suspicious: boolean, isName: boolean): void {
    const { text: textRules, counted } = this.#rules
    const decoded = decodeString(this.#text, start, end)
    const kind = this.#isDocumentation(isName) ? 'documentation' : 'message'
    const found = textRules.find(decoded, suspicious, kind, counted)
    if (found.length === 0) return
    if (isName) this.#path.redactName(spliceText(decoded, toEdits(found)))
    if (this.#red.length + found.length > mostMarks) throw new TooManyMarks()
    const at = this.#path.pointer()
    const offsets = sourceOffsets(
      this.#text,
      start + 1,
      found.flatMap(({ start, end }) => [start, end]),
    )
    for (const [i, { start, end }] of found.entries()) {
      this.#edits.push({ start: offsets[2 * i]!, end: offsets[2 * i + 1]!, text: marker })
      this.#red.push({ at, secret: decoded.slice(start, end) })
    }
  }

  /** A name belongs to the place of its container. */
  #isDocumentation(isName: boolean): boolean {
    return (isName ? this.#places.at(-1) : this.#place) === 'documentation'
  }

  #replace(start: number, end: number, rule: string): void {
    const text = this.#text
    const isString = text.charCodeAt(start) === QUOTE
    const secret = isString ? decodeString(text, start, end) : text.slice(start, end)
    if (secret === marker) return
    if (this.#red.length >= mostMarks) throw new TooManyMarks()
    this.#edits.push({ start, end, text: `"${marker}"` })
    const mark = { at: this.#path.pointer(), secret }
    this.#red.push(isTooMuch(rule) ? { ...mark, why: rule } : mark)
    this.#rules.counted(rule)
  }
}

/** Longer strings are neither names nor flags. */
const longestName = 1024
const longestHead = 400
const schema = /^\{\s*"(?:type|\$ref|description|title|anyOf|oneOf|allOf)"\s*:/

function ruleOf(verdict: NameVerdict | undefined): string {
  if (verdict === requestState) return 'request-state'
  return `key:${verdict?.term ?? ''}`
}

function isTooMuch(rule: string): rule is 'too-many' | 'too-deep' {
  return rule === 'too-many' || rule === 'too-deep'
}

function kindOf(code: number): 'object' | 'array' | 'boolean' | 'other' {
  if (code === OPEN_OBJECT) return 'object'
  if (code === OPEN_ARRAY) return 'array'
  return code === 0x74 || code === 0x66 ? 'boolean' : 'other'
}

function skipPlain(text: string, pos: number): number {
  while (pos < text.length) {
    const code = text.charCodeAt(pos)
    if (code <= 0x20 || code === COMMA || code === OPEN_ARRAY + 2 || code === OPEN_OBJECT + 2) return pos
    pos++
  }
  return pos
}
