import { decodeString, elementsOf, kindAt, membersOf, skipString } from '../../wire/index.js'
import { numberText } from './number-text.js'

const [SPACE, QUOTE, POINT, ZERO, NINE, COLON] = [0x20, 0x22, 0x2e, 0x30, 0x39, 0x3a]

/**
 * A number that JavaScript may print differently from importers: `1.0`, an exponent, many digits, very small
 * numbers, `-0`.
 */
const oddNumber = /\d+\.0+(?!\d)|\d[eE]|\d+\.\d+[eE]|0\.0000|\d{16}|[\d.]{17}|-0(?!\.)/
/** Names that JavaScript moves to the front of an object. */
const numericName = /"(?:\d|\\u003\d){1,10}"\s*:/

/** Characters that `JSON.stringify` writes after a backslash, except for `u`. */
const printedEscapes = '"\\bfnrt'

/** Whether `JSON.parse` returns every number of the checked text exactly, and prints it as importers do. */
export function hasPlainNumbers(text: string): boolean {
  return look(text).isPlain
}

/** Whether a text is certainly what `JSON.stringify` prints, and so are its parts. @param value its parsed value */
export function isPrintedWhole(text: string, value: unknown): boolean {
  return isPrinted(look(text), value)
}

/** Finding out is faster than printing. Of repeated members, the value has one. */
function isPrinted({ isPlain, names }: Look, value: unknown): boolean {
  return isPlain && names >= 0 && names === namesIn(value)
}

interface Look {
  readonly isPlain: boolean
  /** Members of all objects, if `JSON.stringify` prints the text's tokens as they are; otherwise -1. */
  readonly names: number
}

/** One pass for both questions. Caches the last text: it is often checked several times in a row. */
function look(text: string): Look {
  if (text !== lastText) {
    lastText = text
    lastLook = lookAt(text)
  }
  return lastLook
}

function lookAt(text: string): Look {
  let names = 0
  let escape = text.indexOf('\\')
  for (let at = 0; at < text.length;) {
    const start = at
    let hasDigit = false
    // Between two strings.
    for (let code = text.charCodeAt(at); code !== QUOTE && at < text.length; code = text.charCodeAt(++at)) {
      if (code >= ZERO && code <= NINE) hasDigit = true
      else if (code <= SPACE || (code === POINT && endsInZero(text, at + 1))) names = -1
    }
    // An odd number has at least two characters, one of them a digit.
    if (hasDigit && at - start > 1 && oddNumber.test(text.slice(start, at)))
      return { isPlain: false, names: -1 }
    if (at >= text.length) break
    const quote = at
    at = skipString(text, quote)
    if (names < 0) continue
    for (; escape !== -1 && escape < at; escape = text.indexOf('\\', escape + 2))
      if (!printedEscapes.includes(text.charAt(escape + 1))) names = -1
    if (text.charCodeAt(at) === COLON) names = names < 0 || isDigit(text, quote + 1) ? -1 : names + 1
  }
  return { isPlain: true, names }
}

/** @param start of the digits after a point */
function endsInZero(text: string, start: number): boolean {
  let end = start
  while (isDigit(text, end)) end += 1
  return text.charCodeAt(end - 1) === ZERO
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= ZERO && code <= NINE
}

let lastText = ''
let lastLook: Look = { isPlain: true, names: -1 }

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
  return isPrinted(lookAt(text), value) ? text : compactText(text)
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
