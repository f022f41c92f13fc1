import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { indentJson } from '../../src/render/indent-json.js'
import { runs } from '../long.js'

describe('indentJson', () => {
  it('writes what JSON.stringify writes, for text it could have written', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 1, max: 10 }), (value, indent) => {
        expect(indentJson(JSON.stringify(value), indent)).toBe(JSON.stringify(value, null, indent))
      }),
      { numRuns: runs(500) },
    )
  })

  it('changes white space only', () => {
    const text =
      ' {"n":1.0e+2,"n":12345678901234567890,"e":"\\u0041\\/ , : { [", "__proto__" :[ ] ,"o":{\n}}\n'
    expect(indentJson(text)).toBe(
      [
        '{',
        '  "n": 1.0e+2,',
        '  "n": 12345678901234567890,',
        '  "e": "\\u0041\\/ , : { [",',
        '  "__proto__": [],',
        '  "o": {}',
        '}',
      ].join('\n'),
    )
  })

  it('gives the same again for its own output', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const indented = indentJson(text)
        expect(indentJson(indented)).toBe(indented)
        expect(JSON.parse(indented)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('returns text that is not JSON unchanged', () => {
    for (const text of ['', ' ', '{', '{"a":}', 'hello', '[1] x', '{"a":"\n"}'])
      expect(indentJson(text)).toBe(text)
    expect(indentJson(' "x" ')).toBe('"x"')
  })

  it('breaks lines without indentation when asked for none', () => {
    for (const indent of [0, -3, NaN]) expect(indentJson('{"a":[1]}', indent)).toBe('{\n"a": [\n1\n]\n}')
    expect(indentJson('[1]', 99)).toBe(`[\n${' '.repeat(10)}1\n]`)
  })

  it('indents deep text no further than forty levels', () => {
    const levels = 20_000
    const indented = indentJson('['.repeat(levels) + ']'.repeat(levels))
    expect(indented.length).toBeLessThan(levels * 2 * 82)
    const widest = indented.split('\n').reduce((width, line) => Math.max(width, line.search(/\S/)), 0)
    expect(widest).toBe(80)
    expect(indented.replaceAll(/\s/g, '')).toBe('['.repeat(levels) + ']'.repeat(levels))
  })

  it('leaves text unchanged whose indented form no engine could hold', () => {
    const levels = 2_500_000
    const text = '['.repeat(levels) + ']'.repeat(levels)
    expect(indentJson(text, 10) === text).toBe(true)
  })
})
