import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchFilter, needleOf, parseFilter } from '../../src/filter/index.js'
import { textsOf } from '../random-text.js'
import { subject } from './subject.js'

const needle = (text: string): RegExp | undefined => needleOf(parseFilter(text).filter!.condition)?.pattern
const bytes = (text: string): string => Buffer.from(text).toString('latin1')

describe('the text that a recording must contain for a filter', () => {
  it.each([
    ['timeout', 'timeout'],
    ['tool:search latency:>1s', 'search'],
    ['a or longer-word is:error', 'longer-word'],
    ['"say \\"hello\\""', 'hello'],
    ['method:tools/*', 'tools'],
    ['path:$.a.b~"x/yz1"', 'yz1'],
    ['$.a=text', 'text'],
    ['日本', '日本'],
    ['é', 'É'],
    ['é', String.raw`\u00C9`],
    ['hello', String.raw`\u0068ello`],
  ])('%s: %s', (filter, held) => {
    expect(needle(filter)!.test(bytes(held))).toBe(true)
    expect(needle(filter)!.test('something else')).toBe(false)
  })

  it.each(['is:error', 'latency:>1s', '-word', 'word or is:error', '~/a|b/', '""', '"/"', '$.a=5', ''])(
    'is not known of %s',
    (filter) => expect(needle(filter)).toBeUndefined(),
  )

  it('is found wherever the filter matches, however the text is written', () => {
    const word = textsOf('aBk/"\\éÉµſ日😀 \n-', [], { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(word, word, word, fc.integer({ min: 0, max: 2 }), (before, text, after, how) => {
        const found = needle(JSON.stringify(text))
        const filter = parseFilter(JSON.stringify(text)).filter
        if (!filter || !found) return
        const shown = how === 1 ? text.toUpperCase() : text
        let raw = JSON.stringify(`${before}${shown}${after}`)
        if (how === 2)
          raw = raw.replace(
            /[^\\"\u0000-\u001f]/g,
            (c) => String.raw`\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
          )
        if (matchFilter(filter, subject({ text: raw }))) expect(found.test(bytes(raw))).toBe(true)
      }),
    )
  })
})
