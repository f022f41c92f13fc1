import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { onOneLine } from '../../src/wire/index.js'

describe('a JSON text on one line', () => {
  it.each([
    ['{ "a" : 1e3 ,\t"b":[ ] }', '{ "a" : 1e3 ,\t"b":[ ] }'],
    ['{\n  "a": [\r\n    1,\n    " x\\n \\" y"\n  ]\n}\n', '{"a":[1," x\\n \\" y"]}'],
    ['\n"\\\\"\n', '"\\\\"'],
    ['[1,\n2 ]', '[1,2]'],
    ['', ''],
  ])('%j', (text, expected) => {
    expect(onOneLine(text)).toBe(expected)
  })

  it('is the same value, and the text that JSON.stringify gives of indented ones', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 1, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(onOneLine(text)).toBe(JSON.stringify(value))
        expect(onOneLine(`${text}\n`)).toBe(JSON.stringify(value))
      }),
    )
  })
})
