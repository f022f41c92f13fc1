import { decodeString, elementsOf, kindAt, membersOf } from '../../wire/index.js'
import { numberText } from './number-text.js'

/** A number that JavaScript may print otherwise than it stands there; also some text inside strings. */
const oddNumber = /[[:,]\s*-?(?:\d+[.eE]|\d{16}|0(?<=-0))/
/** Names that JavaScript moves to the front of an object. */
const numericName = /"\d{1,10}"\s*:/

/** Whether `JSON.parse` gives every number of the checked text exactly, and prints it again as importers do. */
export function hasPlainNumbers(text: string): boolean {
  return /^-?\d/.test(text) ? /^(?:0|-?[1-9]\d{0,14})$/.test(text) : !oddNumber.test(text)
}

/**
 * A checked JSON value on one line without white space, as importers print it: members in their order, of
 * repeated ones the last value, numbers as `numberText` has them.
 */
export function compactText(text: string): string {
  if (hasPlainNumbers(text) && !numericName.test(text)) return JSON.stringify(JSON.parse(text))
  return valueText(text, 0, text.length)
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
