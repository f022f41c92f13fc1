import * as fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { pad, truncate, widthOf, wrapPieces } from '../../src/render/index.js'

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', '表', '🎞', 'e\u0301', '👍🏽', '🇳🇴'),
    fc.string({ unit: 'grapheme', maxLength: 1 }),
  ),
})

describe('widthOf', () => {
  it.each([
    ['abc', 3],
    ['表格', 4],
    ['🎞️', 2],
    ['e\u0301', 1],
    ['👍🏽', 2],
    ['', 0],
  ])('takes %j for %d cells', (value, width) => {
    expect(widthOf(value)).toBe(width)
  })
})

describe('the width of a character', () => {
  it('is what the measuring library says, of each that is no ideograph', () => {
    const wrong: string[] = []
    for (let code = 0x20; code < 0x2e80; code += 1) {
      const char = String.fromCharCode(code)
      if (widthOf(`a${char}b`) !== stringWidth(`a${char}b`)) wrong.push(code.toString(16))
    }
    expect(wrong).toEqual([])
  })
})

describe('pad', () => {
  it('fills up to the width, on either side, whatever the characters', () => {
    expect(pad('表', 4)).toBe('表  ')
    expect(pad('表', 4, 'left')).toBe('  表')
    expect(pad('long', 2)).toBe('long')
  })
})

describe('truncate', () => {
  it('keeps what fits and marks what is cut', () => {
    expect(truncate('abcdef', 6)).toBe('abcdef')
    expect(truncate('abcdef', 5)).toBe('abcd…')
    expect(truncate('表格数据', 5)).toBe('表格…')
    expect(truncate('表格数据', 4)).toBe('表…')
    expect(truncate('abc', 1)).toBe('…')
    expect(truncate('abc', 0)).toBe('')
    expect(truncate('abc', Infinity)).toBe('abc')
  })

  it('cuts between what a person sees as characters', () => {
    expect(truncate('👍🏽👍🏽👍🏽', 5)).toBe('👍🏽👍🏽…')
    expect(truncate('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…')
  })

  it('is never wider than asked', () => {
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 0, max: 30 }),
        (value, width) => widthOf(truncate(value, width)) <= width,
      ),
    )
  })

  it('does bounded work for a text of any length', () => {
    expect(truncate('x'.repeat(50_000_000), 10)).toBe('xxxxxxxxx…')
    expect(truncate('\u0301'.repeat(1_000_000), 10).length).toBeLessThan(1_000)
  })
})

describe('wrapPieces', () => {
  it('puts as many pieces in a line as fit', () => {
    expect(wrapPieces(['one', 'two', 'three'], ', ', 9)).toBe('one, two\nthree')
    expect(wrapPieces(['one', 'two', 'three'], ', ', undefined)).toBe('one, two, three')
    expect(wrapPieces(['a-long-piece', 'b'], ', ', 6)).toBe('a-lon…\nb')
    expect(wrapPieces([], ', ', 6)).toBe('')
  })
})
