import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeFilter, filterKeys, matchFilter, parseFilter, quoteValue } from '../../src/filter/index.js'
import { subject } from './subject.js'
import { runs } from '../long.js'
import { textsOf } from '../random-text.js'

function faultOf(text: string): string {
  const { fault } = parseFilter(text)
  return fault ? `${fault.column}+${fault.length} ${fault.message}` : 'none'
}

describe('a filter that does not parse', () => {
  it.each([
    ['(a', '1+1 this ( is not closed: expected )'],
    ['a)', '2+1 this ) has no ('],
    ['()', '2+1 expected a condition, such as method:tools/call'],
    ['a or', '5+1 expected a condition, such as method:tools/call'],
    ['or a', '1+1 expected a condition, such as method:tools/call'],
    ['a and', '6+1 expected a condition, such as method:tools/call'],
    ['a && ', '6+1 expected a condition, such as method:tools/call'],
    ['(a and)', '7+1 expected a condition, such as method:tools/call'],
    ['a and and b', '7+1 expected a condition, such as method:tools/call'],
    ['a && && b', '6+1 expected a condition, such as method:tools/call'],
    ['a and or b', '7+1 expected a condition, such as method:tools/call'],
    ['a or and b', '6+1 expected a condition, such as method:tools/call'],
    ['a or or b', '6+1 expected a condition, such as method:tools/call'],
    ['and a', '1+1 expected a condition, such as method:tools/call'],
    ['not', '4+1 expected a condition, such as method:tools/call'],
    ['a (not)', '7+1 expected a condition, such as method:tools/call'],
    ['not and a', '5+1 expected a condition, such as method:tools/call'],
    ['>or a', '2+1 expected a condition, such as method:tools/call'],
    ['metod:x', '1+5 unknown key metod: did you mean method?'],
    ['x is:modifed', '6+7 unknown value modifed: did you mean modified?'],
    ['dir:up', '5+2 unknown value up: expected one of in, out'],
    ['method:', '8+1 expected a name, such as tools/call'],
    ['latency:200ms', '9+5 expected a comparison, such as latency:>200ms'],
    ['size:>5q', '7+2 5q is not a size, such as size:>10kB'],
    ['seq:1..x', '8+1 x is not a number, such as seq:12'],
    ['since:soon', '7+4 soon is not a time: write 10m, 2026-08-01 or 2026-08-01T10:00'],
    ['since:2026-13-01', '7+10 2026-13-01 is not a time: write 10m, 2026-08-01 or 2026-08-01T10:00'],
    ['since:2026-02-30', '7+10 2026-02-30 is not a time: write 10m, 2026-08-01 or 2026-08-01T10:00'],
    [
      'until:2026-04-31T10:00',
      '7+16 2026-04-31T10:00 is not a time: write 10m, 2026-08-01 or 2026-08-01T10:00',
    ],
    ['"abc', '1+4 the text has no end: expected "'],
    ['text:~/abc', '6+5 the pattern has no end: expected /'],
    ['~/a/g', '5+1 only i may follow a pattern, not g'],
    ['~//', '1+3 the pattern is empty: expected ~/something/'],
    [
      'text:~/a(?=b)/',
      '9+1 the pattern is not a regular expression: invalid or unsupported Perl syntax: use RE2 syntax, without lookaround and backreferences',
    ],
    ['path:', '6+1 expected a JSONPath, such as $.params.arguments.query'],
    ['path:$.a[', '10+1 the path is incomplete: use a path such as $.params.arguments.name'],
    ['path:$.a>', '10+1 expected a value to compare with'],
    ['path:$.a>true', '10+4 expected a number or a text after >'],
    ['path:$..a..b', '6+7 the path has more than one ..: split it into paths with one .. each'],
  ])('reports the position and what was expected: %s', (text, expected) => {
    expect(faultOf(text)).toBe(expected)
  })

  it('lists the keys when a key is like none of them', () => {
    expect(faultOf('http://x')).toBe(
      `1+4 unknown key http: put text with a colon in quotes, or use one of ${filterKeys.map(({ name }) => name).join(', ')}`,
    )
  })

  it('is refused when it is too long or nested too deep, not overflowed by', () => {
    expect(faultOf('a'.repeat(4001))).toBe('4001+1 is longer than 4000 characters')
    expect(faultOf('('.repeat(4000))).toBe('102+1 is nested more than 100 deep')
    expect(faultOf('>'.repeat(4000))).toBe('102+1 is nested more than 100 deep')
    expect(faultOf('-'.repeat(3999))).toBe('none')
  })

  it('is a fault inside the text, or a filter, whatever was written', () => {
    const words = ['~/', 'or', 'and', 'not', '$.a', '..', 'ms', ...filterKeys.map(({ name }) => `${name}:`)]
    const texts = textsOf('()-!><~/"\'\\ []?@=*5x\u00e9\ud800\n', words, { maxLength: 12 })
    fc.assert(
      fc.property(texts, (text) => {
        const { filter, fault } = parseFilter(text)
        if (filter) {
          expect(describeFilter(filter).length).toBeGreaterThan(0)
          expect([true, false]).toContain(matchFilter(filter, subject({ text: '{"a":[5]}', method: 'x' })))
          return
        }
        expect(fault.length).toBeGreaterThan(0)
        expect(fault.column).toBeGreaterThan(0)
        expect(fault.column - 1).toBeLessThanOrEqual(text.length)
        expect(fault.message).not.toMatch(/undefined|\[object/)
      }),
      { numRuns: runs(1000) },
    )
  })
})

describe('conditions that are joined', () => {
  interface Written {
    readonly text: string
    readonly holds: boolean
  }
  const blank = fc.constantFrom(' ', '  ', '\n')
  const { any } = fc.letrec<{ any: Written; all: Written; denied: Written }>((tie) => ({
    any: fc
      .tuple(
        fc.array(tie('all'), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(' or ', ' OR ', ' ||', ' || '),
      )
      .map(([of, join]) => ({
        text: of.map(({ text }) => text).join(join),
        holds: of.some(({ holds }) => holds),
      })),
    all: fc
      .tuple(
        fc.array(tie('denied'), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(' ', ' and ', ' AND ', ' && ', ' &&'),
      )
      .map(([of, join]) => ({
        text: of.map(({ text }) => text).join(join),
        holds: of.every(({ holds }) => holds),
      })),
    denied: fc
      .tuple(
        fc.constantFrom('', '', '-', '!', 'not ', '--'),
        fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fc.constantFrom({ text: 'method:x', holds: true }, { text: 'is:late', holds: false }),
          fc.tuple(tie('any'), blank).map(([{ text, holds }, gap]) => ({ text: `(${text}${gap})`, holds })),
        ),
      )
      .map(([sign, { text, holds }]) => ({
        text: `${sign}${text}`,
        holds: sign === '' || sign === '--' ? holds : !holds,
      })),
  }))

  it('hold as the grammar reads them, whatever joins them', () => {
    fc.assert(
      fc.property(any, ({ text, holds }) => {
        const { filter, fault } = parseFilter(text)
        if (filter) expect(matchFilter(filter, subject({ method: 'x' }))).toBe(holds)
        else expect(text.length > 4000 || fault.message.includes('nested')).toBe(true)
      }),
      { numRuns: runs(300) },
    )
  })

  it('are refused where one is missing before or after a word that joins', () => {
    const word = fc.constantFrom(' and ', ' AND ', ' && ', ' or ', ' || ')
    fc.assert(
      fc.property(any, word, word, any, (one, join, other, two) => {
        // Neither too long together nor nested too deep.
        fc.pre(one.text.length + two.text.length < 3_900)
        fc.pre([one, two].every(({ text }) => parseFilter(`(${text})`).filter !== undefined))
        const before = one.text.length + join.length
        for (const [text, column] of [
          [`${one.text}${join}`, before + 1],
          [`${one.text}${join}${other}${two.text}`, before + 1 + (other.length - other.trimStart().length)],
          [`(${one.text}${join})`, before + 2],
          [`${join}${one.text}`, 2],
        ] as const) {
          const { fault } = parseFilter(text)
          expect(fault?.column).toBe(column)
          expect(fault?.message).toMatch(/^expected a condition/)
        }
      }),
      { numRuns: runs(200) },
    )
  })
})

describe('describeFilter', () => {
  it.each([
    ['', 'everything'],
    ['tool:se* -is:late', 'tool matches se* and not a second response to a request'],
    ['>(a or size:>1kB)', 'from the client and (method, name or text has "a" or size above 1kB)'],
    ['since:10m until:2026-08-01', 'since 10m ago and before 2026-08-01'],
    ['since:yesterday until:today', 'since yesterday and before today'],
    ['$.a~/x/i $.b $.c=1', '$.a matches /x/i and $.b exists and $.c is 1'],
  ])('says %s in words', (text, words) => {
    expect(describeFilter(parseFilter(text).filter!)).toBe(words)
  })
})

describe('quoteValue', () => {
  it('writes any name so that it means itself', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (name) => {
        const { filter } = parseFilter(`tool:${quoteValue(name)} is:request`)
        expect(matchFilter(filter!, subject({ method: 'tools/call', name }))).toBe(true)
        expect(matchFilter(filter!, subject({ method: 'tools/call', name: `${name}x` }))).toBe(false)
      }),
    )
  })
})
