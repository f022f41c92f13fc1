import { decodeString, elementsOf, kindAt, membersOf, skipString } from '../../wire/index.js'
import { numberText } from './number-text.js'

const [SPACE, QUOTE, POINT, ZERO, COLON] = [0x20, 0x22, 0x2e, 0x30, 0x3a]

/**
 * A number that JavaScript may print differently from importers: `1.0`, an exponent, many digits, very small
 * numbers, `-0`.
 */
const oddNumber = /\d+\.0+(?!\d)|\d[eE]|\d+\.\d+[eE]|0\.0000|\d{16}|[\d.]{17}|-0(?!\.)/
/** Names that JavaScript moves to the front of an object. */
const numericName = /"(?:\d|\\u003\d){1,10}"\s*:/

/** Whether `JSON.parse` returns every number of the checked text exactly, and prints it as importers do. */
export function hasPlainNumbers(text: string): boolean {
  // Caches the last text: it is often checked several times in a row.
  if (text !== lastText) {
    lastText = text
    lastIsPlain = !hasOddNumber(text)
  }
  return lastIsPlain
}

/** Searches between strings only: most of a message is inside strings. */
function hasOddNumber(text: string): boolean {
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at)
    const end = quote === -1 ? text.length : quote
    // An odd number has at least two characters, one of them a digit.
    if (end - at > 1 && hasDigit(text, at, end) && oddNumber.test(text.slice(at, end))) return true
    if (quote === -1) return false
    at = skipString(text, quote)
  }
  return false
}

function hasDigit(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (isDigit(text, at)) return true
  return false
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= ZERO && code <= 0x39
}

let lastText = ''
let lastIsPlain = false

/**
 * A checked JSON value on one line without white space, as importers print it: members in order, the last
 * value of repeated members, numbers as printed by `numberText`.
 */
export function compactText(text: string): string {
  if (hasPlainNumbers(text) && !numericName.test(text)) return JSON.stringify(JSON.parse(text))
  return valueText(text, 0, text.length)
}

/** As `compactText`, for a text with plain numbers. @param value its parsed value */
export function printedText(text: string, value: unknown): string {
  return isPrinted(text, value) ? text : compactText(text)
}

/** What `JSON.stringify` writes after a backslash, except for `u`. */
const printedEscapes = '"\\bfnrt'

/** Whether a text with plain numbers is certainly what `JSON.stringify` prints; finding out is faster than printing. */
export function isPrinted(text: string, value: unknown): boolean {
  let names = 0
  let escape = text.indexOf('\\')
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code <= SPACE) return false
    if (code === POINT) {
      while (isDigit(text, at + 1)) at += 1
      if (text.charCodeAt(at) === ZERO) return false
    }
    if (code !== QUOTE) continue
    const end = skipString(text, at)
    for (; escape !== -1 && escape < end; escape = text.indexOf('\\', escape + 2))
      if (!printedEscapes.includes(text.charAt(escape + 1))) return false
    if (text.charCodeAt(end) === COLON) {
      if (isDigit(text, at + 1)) return false
      names += 1
    }
    at = end - 1
  }
  // Of repeated members, the value has one.
  return names === namesIn(value)
}

function namesIn(value: unknown): number {
  let names = 0
  if (Array.isArray(value)) for (const element of value) names += namesIn(element)
  else if (typeof value === 'object')
    for (const name in value) names += 1 + namesIn((value as Readonly<Record<string, unknown>>)[name])
  return names
}

function valueText(text: string, start: number, end: number): string {
  switch (kindAt(text, start)) {
    case 'object': {
      const members = new Map<string, string>()
      for (const member of membersOf(text, start)) {
        members.set(member.name, valueText(text, member.start, member.end))
      }
      return `{${[...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
    }
    case 'array': {
      const elements = elementsOf(text, start).map((element) => valueText(text, element.start, element.end))
      return `[${elements.join(',')}]`
    }
    case 'string':
      return JSON.stringify(decodeString(text, start, end))
    case 'number':
      return numberText(text.slice(start, end))
    default:
      return text.slice(start, end)
  }
}
