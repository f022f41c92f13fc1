import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeJson, escapeLines, escapeText } from '../../src/render/index.js'

const harmful =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/
const anyText = fc.string({ unit: 'binary', maxLength: 40 })

describe('escapeText', () => {
  it.each([
    ['colours and cursor', '\u001b[31mred\u001b[2J', String.raw`\u{1b}[31mred\u{1b}[2J`],
    ['the clipboard', '\u001b]52;c;QQ==\u0007', String.raw`\u{1b}]52;c;QQ==\u{7}`],
    ['C1 controls', 'a\u009b2Jb\u0085', String.raw`a\u{9b}2Jb\u{85}`],
    ['reading direction', 'a\u202egnp\u2066', String.raw`a\u{202e}gnp\u{2066}`],
    ['what is invisible', 'a\u200bb\u00adc\ufeff\u{e0041}', String.raw`a\u{200b}b\u{ad}c\u{feff}\u{e0041}`],
    ['fillers that look like nothing', 'a\u3164b\u115f', String.raw`a\u{3164}b\u{115f}`],
    ['line breaks and tabs', 'a\r\n\tb\u2028', String.raw`a\r\n\tb\u{2028}`],
    ['lone surrogates', 'a\ud83cb', String.raw`a\u{d83c}b`],
  ])('shows %s without doing it', (_, text, expected) => {
    expect(escapeText(text)).toBe(expected)
  })

  it('leaves letters of all scripts, combining marks and emoji alone', () => {
    const text = 'Åse naïve नमस्ते 表格 한국어 العربية 🎞️ e\u0301 "quoted" \\'
    expect(escapeText(text)).toBe(text)
  })

  it('leaves nothing harmful in any text', () => {
    fc.assert(fc.property(anyText, (text) => !harmful.test(escapeText(text))))
    fc.assert(fc.property(anyText, (text) => !harmful.test(escapeLines(text).replaceAll(/[\n\t]/g, ''))))
  })
})

describe('escapeJson', () => {
  it('leaves nothing harmful in JSON, and the same value', () => {
    const json = fc.oneof(fc.jsonValue(), anyText)
    fc.assert(
      fc.property(json, (value) => {
        const text = escapeJson(JSON.stringify(value, null, 2))
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(text.replaceAll('\n', '')).not.toMatch(harmful)
      }),
    )
  })

  it('keeps JSON without such characters as it is', () => {
    const text = '{\n\t"a" : 1.0e+2,\r\n "b": "\\u001b é 🎞"\n}'
    expect(escapeJson(text)).toBe(text)
  })
})
