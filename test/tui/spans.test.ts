import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/render/index.js'
import { span, wrapLine, wrapWords } from '../../src/tui/spans.js'

const text = fc.array(fc.constantFrom('a', ' ', '漢', '👩‍👩‍👧‍👦', 'é', 'word ', '\u0301'), { maxLength: 40 })

describe('a line that is wrapped', () => {
  it('says all of it in lines that fit, and ends, however narrow the terminal', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 12 }), (pieces, width) => {
        const all = pieces.join('')
        const lines = wrapLine([span(all)], width).map((line) => line.map((one) => one.text).join(''))
        expect(lines.join('')).toBe(all)
        if (width > 1) for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
        const words = wrapWords(span(all), width).map((line) => line.map((one) => one.text).join(''))
        expect(words.join('').replaceAll(' ', '')).toBe(all.replaceAll(' ', ''))
      }),
    )
  })
})
