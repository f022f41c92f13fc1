import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalNumber,
  decodeString,
  elementsOf,
  findJsonValue,
  isFault,
  kindAt,
  mayHaveControls,
  memberOf,
  membersOf,
  skipValue,
  spliceText,
} from '../../src/wire/index.js'
import { isJson } from '../is-json.js'
import { runs } from '../long.js'

const whiteSpace = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 })

const stringText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text).slice(1, -1)),
      fc.constantFrom(
        '\\u0041',
        '\\uD83D',
        '\\ude00',
        '\\/',
        '\\\\',
        '\\"',
        '\\b\\f\\n\\r\\t',
        '\u2028',
        '\ud800',
      ),
      fc.nat({ max: 120 }).map((length) => 'x'.repeat(length)),
    ),
    { maxLength: 5 },
  )
  .map((parts) => `"${parts.join('')}"`)

const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.bigInt({ min: 1n, max: 10n ** 25n }).map(String)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,6}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/)),
  )
  .map((parts) => parts.join(''))

const jsonText = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    stringText,
    numberText,
    fc.constantFrom('true', 'false', 'null'),
    tie('object'),
    tie('array'),
  ),
  array: fc
    .array(
      fc.tuple(whiteSpace, tie('value'), whiteSpace).map((parts) => parts.join('')),
      { maxLength: 4 },
    )
    .chain((elements) => whiteSpace.map((space) => `[${elements.join(',') || space}]`)),
  object: fc
    .array(
      fc
        .tuple(whiteSpace, stringText, whiteSpace, tie('value'), whiteSpace)
        .map(([before, name, around, value, after]) => `${before}${name}${around}:${around}${value}${after}`),
      { maxLength: 4 },
    )
    .chain((members) => whiteSpace.map((space) => `{${members.join(',') || space}}`)),
})).value

const paddedJson = fc.tuple(whiteSpace, jsonText, whiteSpace)

/** Texts that are nearly JSON: a few characters deleted, inserted or replaced. */
const nearlyJson = fc
  .tuple(
    jsonText,
    fc.array(
      fc.record({
        at: fc.nat(),
        remove: fc.nat({ max: 2 }),
        insert: fc.constantFrom(
          '',
          '"',
          '\\',
          ',',
          ':',
          '[',
          ']',
          '{',
          '}',
          '0',
          '-',
          '.',
          'e',
          ' ',
          '\n',
          '\u0000',
          '\ufeff',
          'u',
        ),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([text, changes]) => {
    for (const { at, remove, insert } of changes) {
      const cut = at % (text.length + 1)
      text = text.slice(0, cut) + insert + text.slice(cut + remove)
    }
    return text
  })

function expectSameVerdict(text: string): void {
  const found = findJsonValue(text)
  expect(!isFault(found)).toBe(isJson(text))
  if (isFault(found)) {
    expect(found.at).toBeGreaterThanOrEqual(0)
    expect(found.at).toBeLessThanOrEqual(text.length)
    expect(found.reason).not.toBe('')
  } else {
    const value = text.slice(found.start, found.end)
    expect(value).toBe(value.trim())
    expect(JSON.parse(value)).toEqual(JSON.parse(text))
  }
}

function faultIn(text: string): { at: number; reason: string } {
  const found = findJsonValue(text)
  if (!isFault(found)) throw new Error(`accepted ${text}`)
  return found
}

describe('findJsonValue', () => {
  it('finds the value and leaves the white space around it out', () => {
    fc.assert(
      fc.property(paddedJson, ([before, value, after]) => {
        expect(findJsonValue(before + value + after)).toEqual({
          start: before.length,
          end: before.length + value.length,
        })
        expect(isJson(value)).toBe(true)
      }),
      { numRuns: runs(500) },
    )
  })

  it('accepts of damaged JSON exactly what JSON.parse accepts', () => {
    fc.assert(fc.property(nearlyJson, expectSameVerdict), { numRuns: runs(3000) })
  })

  it('accepts of arbitrary text exactly what JSON.parse accepts', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), expectSameVerdict))
    const unit = fc.constantFrom(...'[]{}:,"\\01-.eEu truefalsn\n'.split(''))
    fc.assert(fc.property(fc.string({ unit, maxLength: 8 }), expectSameVerdict), { numRuns: runs(3000) })
  })

  it('judges every prefix of a message and every code unit in a string as JSON.parse does', () => {
    const text = ' {"a":[1,-2.5e+3,{"b":"\\u00e9\\n\\"x"}],"":true,"c":[],"d":{},"e":null,"f":false} '
    for (let end = 0; end <= text.length; end++) expectSameVerdict(text.slice(0, end))
    for (let code = 0; code < 0x3000; code++) {
      const char = String.fromCharCode(code)
      for (const probe of [`"${char}"`, `"\\${char}"`, `"\\u00${char}0"`, `${char}1`, `1${char}`]) {
        if (isFault(findJsonValue(probe)) === isJson(probe)) expect.fail(`code unit ${code} in ${probe}`)
      }
    }
  })

  it('sees a control character, a bad escape and the end of the text far inside a long string', () => {
    const long = 'a'.repeat(5000)
    expect(faultIn(`"${long}\n${long}"`)).toEqual({ at: 5001, reason: 'control character in a string' })
    expect(faultIn(`"${long}\\x${long}"`)).toEqual({ at: 5002, reason: 'bad escape in a string' })
    expect(faultIn(`"${long}\\u12g4"`)).toEqual({ at: 5005, reason: 'bad escape in a string' })
    expect(faultIn(`"${long}`)).toEqual({ at: 5001, reason: 'unexpected end of text' })
    for (let code = 0; code < 0x20; code++) {
      expect(faultIn(`"${long}${String.fromCharCode(code)}"`).at).toBe(5001)
    }
    expect(isFault(findJsonValue(`["${long}\\"${long}\\\\","${long}\u007f"]`))).toBe(false)
  })

  it('says where and why a text is not JSON', () => {
    expect(faultIn('')).toEqual({ at: 0, reason: 'unexpected end of text' })
    expect(faultIn('{"a":1')).toEqual({ at: 6, reason: 'unexpected end of text' })
    expect(faultIn('{"a":1]')).toEqual({ at: 6, reason: "expected ',' or '}'" })
    expect(faultIn('[1 2]')).toEqual({ at: 3, reason: "expected ',' or ']'" })
    expect(faultIn('{"a" 1}')).toEqual({ at: 5, reason: "expected ':'" })
    expect(faultIn('{a:1}')).toEqual({ at: 1, reason: 'expected a member name' })
    expect(faultIn('{"a":1,}')).toEqual({ at: 7, reason: 'expected a member name' })
    expect(faultIn('[1,]')).toEqual({ at: 3, reason: 'expected a value' })
    expect(faultIn('1 2')).toEqual({ at: 2, reason: 'unexpected text after the value' })
    expect(faultIn('01')).toEqual({ at: 1, reason: 'unexpected text after the value' })
    expect(faultIn('[1.]')).toEqual({ at: 3, reason: 'malformed number' })
    expect(faultIn('[trux]')).toEqual({ at: 4, reason: 'unknown word' })
    expect(faultIn('\ufeff1')).toEqual({ at: 0, reason: 'expected a value' })
  })

  it('looks only at the range it was given', () => {
    const text = 'data: {"a":"x"} \n"}'
    expect(findJsonValue(text, 6, 16)).toEqual({ start: 6, end: 15 })
    expect(findJsonValue(text, 6, 13)).toEqual({ at: 13, reason: 'unexpected end of text' })
    expect(findJsonValue(text, 6, 6)).toEqual({ at: 6, reason: 'unexpected end of text' })
    expect(findJsonValue('1', -5, 99)).toEqual({ start: 0, end: 1 })
    expect(isFault(findJsonValue('1', 5))).toBe(true)
    expect(isFault(findJsonValue('1', 0, -1))).toBe(true)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), jsonText, fc.string({ unit: 'binary' }), (a, value, b) => {
        const found = findJsonValue(a + value + b, a.length, a.length + value.length)
        expect(found).toEqual({ start: a.length, end: a.length + value.length })
      }),
    )
  })

  it.each([20_000, 1_000_000])('reads %i levels of nesting', (levels) => {
    const arrays = '['.repeat(levels) + ']'.repeat(levels)
    expect(findJsonValue(arrays)).toEqual({ start: 0, end: arrays.length })
    expect(skipValue(arrays, 0)).toBe(arrays.length)
    expect(elementsOf(arrays, 0)).toEqual([{ start: 1, end: arrays.length - 1 }])
    expect(findJsonValue('['.repeat(levels))).toEqual({ at: levels, reason: 'unexpected end of text' })

    const mixed = '{"a":['.repeat(levels / 2) + '1' + ']}'.repeat(levels / 2)
    expect(findJsonValue(mixed)).toEqual({ start: 0, end: mixed.length })
    const wrong = '{"a":['.repeat(levels / 2) + '1' + ']}'.repeat(levels / 4) + '}' + ']}'.repeat(levels / 4)
    expect(findJsonValue(wrong)).toEqual({ at: levels * 3 + 1 + levels / 2, reason: "expected ',' or ']'" })
  })

  it('remembers the kind of every open container, whatever the order', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 150 }), (kinds) => {
        const open = kinds.map((isObject) => (isObject ? '{"k":' : '[')).join('')
        const closing = kinds.map((isObject) => (isObject ? '}' : ']')).toReversed()
        expect(isFault(findJsonValue(open + '0' + closing.join('')))).toBe(false)
        for (const [index, bracket] of closing.entries()) {
          const wrong = closing.with(index, bracket === '}' ? ']' : '}').join('')
          expect(findJsonValue(open + '0' + wrong)).toMatchObject({ at: open.length + 1 + index })
        }
      }),
    )
  })
})

/** Compares the spans with the values of JSON.parse, all the way down. */
function expectSameValue(text: string, start: number, end: number, value: unknown): void {
  expect(skipValue(text, start)).toBe(end)
  const kind = kindAt(text, start)
  if (kind === 'object') {
    const members = membersOf(text, start)
    const record = value as Record<string, unknown>
    expect(new Set(members.map((member) => member.name))).toEqual(new Set(Object.keys(record)))
    for (const { name, nameStart, nameEnd } of members) {
      expect(JSON.parse(text.slice(nameStart, nameEnd))).toBe(name)
      const last = memberOf(members, name)
      if (last !== undefined) expectSameValue(text, last.start, last.end, record[name])
    }
  } else if (kind === 'array') {
    const elements = elementsOf(text, start)
    const array = value as unknown[]
    expect(elements).toHaveLength(array.length)
    for (const [index, element] of elements.entries()) {
      expectSameValue(text, element.start, element.end, array[index])
    }
  } else if (kind === 'string') {
    expect(decodeString(text, start, end)).toBe(value)
  } else {
    expect(kind).toBe(value === null ? 'null' : typeof value)
    expect(JSON.parse(text.slice(start, end))).toBe(value)
  }
}

describe('reading checked text', () => {
  it('agrees with JSON.parse about members, elements, kinds and strings', () => {
    fc.assert(
      fc.property(paddedJson, ([before, value, after]) => {
        const text = before + value + after
        expectSameValue(text, before.length, before.length + value.length, JSON.parse(text))
      }),
      { numRuns: runs(500) },
    )
  })

  it('lists members in text order, duplicates included, and finds the last of a name', () => {
    const text = ' { "a" : 1 , "b":[{"a":0}], "a":\t"x,}" }'
    const members = membersOf(text, 1)
    expect(members.map(({ name, start, end }) => [name, text.slice(start, end)])).toEqual([
      ['a', '1'],
      ['b', '[{"a":0}]'],
      ['a', '"x,}"'],
    ])
    expect(memberOf(members, 'a')).toBe(members[2])
    expect(memberOf(members, 'c')).toBeUndefined()
  })

  it('decodes escaped names and gives __proto__ no meaning', () => {
    const text = '{"\\u0070assword":1,"__proto__":{"x":2},"toString":3,"":4}'
    const members = membersOf(text, 0)
    expect(members.map((member) => member.name)).toEqual(['password', '__proto__', 'toString', ''])
    expect(text.slice(members[0]?.nameStart, members[0]?.nameEnd)).toBe('"\\u0070assword"')
    expect(memberOf(membersOf('{}', 0), 'toString')).toBeUndefined()
  })

  it('keeps lone surrogates', () => {
    expect(decodeString('"\\ud83dx\ude00"', 0, 10)).toBe('\ud83dx\ude00')
    expect(decodeString('""', 0, 2)).toBe('')
  })

  it('has no members or elements in a value of another kind', () => {
    expect(membersOf('[{"a":1}]', 0)).toEqual([])
    expect(elementsOf('{"a":[1]}', 0)).toEqual([])
    expect(membersOf('{ }', 0)).toEqual([])
    expect(elementsOf('[\n]', 0)).toEqual([])
  })

  it('comes to an end on text that was not checked', () => {
    const unit = fc.constantFrom(...'[]{}:,"\\01 ax'.split(''))
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), fc.nat({ max: 35 }), (text, start) => {
        expect(skipValue(text, start)).toBeLessThanOrEqual(Math.max(start, text.length))
        expect(elementsOf(text, start).length).toBeLessThanOrEqual(text.length)
        kindAt(text, start)
      }),
      { numRuns: runs(2000) },
    )
  })
})

/** A number text's exact value, scaled by 10^400 to a whole number. */
function scaled(text: string): bigint {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return BigInt(whole + fraction) * 10n ** BigInt(400 + Number(exponent) - fraction.length)
}

const smallNumber = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.stringMatching(/^(0|[1-9][0-9]{0,4}0{0,3})$/),
    fc.stringMatching(/^(\.0{0,3}[0-9]{1,4}0{0,3})?$/),
    fc.stringMatching(/^([eE][+-]?0?[0-9]{1,2})?$/),
  )
  .map((parts) => parts.join(''))

describe('canonicalNumber', () => {
  it('writes equal numbers in one way', () => {
    for (const one of ['1', '1.0', '1e0', '10e-1', '0.1E+1', '100e-0002'])
      expect(canonicalNumber(one)).toBe('1')
    for (const zero of ['0', '-0', '0.000', '-0e99', '0e-99999999999999999999']) {
      expect(canonicalNumber(zero)).toBe('0')
    }
    expect(canonicalNumber('-12.50')).toBe('-12.5')
    expect(canonicalNumber('0.00001')).toBe('0.00001')
    expect(canonicalNumber('1.5e300')).toBe('1.5e300')
    expect(canonicalNumber('0.15e-299')).toBe('1.5e-300')
  })

  it('stays exact beyond floating point', () => {
    expect(canonicalNumber('12345678901234567890')).toBe('12345678901234567890')
    expect(canonicalNumber('9007199254740993.0')).toBe('9007199254740993')
    expect(canonicalNumber('0.1000000000000000055511151231257827')).not.toBe(canonicalNumber('0.1'))
  })

  it('gives the same form exactly when the numbers are equal', () => {
    const rewritten = smallNumber.chain((text) =>
      fc.nat({ max: 6 }).map((zeros): [string, string] => {
        const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
        const [whole = '', fraction = ''] = mantissa.split('.')
        return [text, `${whole}.${fraction}${'0'.repeat(zeros)}0E${exponent}`]
      }),
    )
    fc.assert(
      fc.property(fc.oneof(rewritten, fc.tuple(smallNumber, smallNumber)), ([a, b]) => {
        expect(canonicalNumber(a) === canonicalNumber(b)).toBe(scaled(a) === scaled(b))
      }),
      { numRuns: runs(3000) },
    )
  })

  it('gives a number text with the same value, and that text again for it', () => {
    fc.assert(
      fc.property(smallNumber, (text) => {
        const canonical = canonicalNumber(text)
        expect(isJson(canonical)).toBe(true)
        expect(scaled(canonical)).toBe(scaled(text))
        expect(canonicalNumber(canonical)).toBe(canonical)
      }),
      { numRuns: runs(1000) },
    )
  })

  it('adds to large exponents exactly, without expanding them', () => {
    expect(canonicalNumber('1e999999999')).toBe('1e999999999')
    expect(canonicalNumber('10e999999999999999')).toBe('1e1000000000000000')
    expect(canonicalNumber('0.1e-99999999999999')).toBe('1e-100000000000000')
    const most = 10 ** 15 - 1
    fc.assert(
      fc.property(
        fc.integer({ min: -most, max: most }),
        fc.integer({ min: -30, max: 30 }),
        (exponent, delta) => {
          const zeros = '0'.repeat(Math.abs(delta))
          const text = delta < 0 ? `0.${zeros}7e${exponent}` : `7${zeros}e${exponent}`
          const sum = BigInt(exponent) + BigInt(delta) - (delta < 0 ? 1n : 0n)
          if (sum > 100n || sum < -100n) expect(canonicalNumber(text)).toBe(`7e${sum}`)
        },
      ),
    )
  })

  it('returns numbers with an exponent of more than 15 digits unchanged', () => {
    for (const text of ['10e1000000000000000', '-0.10E-9999999999999999', `1e${'9'.repeat(1_000_000)}`])
      expect(canonicalNumber(text)).toBe(text)
    expect(canonicalNumber('10e0000000000000000001')).toBe('100')
  })

  it('takes numbers of a million digits', () => {
    const digits = '9'.repeat(1_000_000)
    expect(canonicalNumber(`${digits}.0`)).toBe(digits)
  })

  it('returns text that is not a number unchanged', () => {
    for (const text of ['', '-', '01', '1.', '.5', '+1', '1e', '1 ', 'NaN', '"1"', '0x10']) {
      expect(canonicalNumber(text)).toBe(text)
    }
  })
})

describe('spliceText', () => {
  it('changes what the edits say and nothing else', () => {
    const text = '{"a":1.0,"b":2}'
    const edits = [
      { start: 5, end: 8, text: '"[REDACTED]"' },
      { start: 8, end: 8, text: ' ' },
      { start: 13, end: 14, text: '' },
    ]
    expect(spliceText(text, edits)).toBe('{"a":"[REDACTED]" ,"b":}')
    expect(spliceText(text, [])).toBe(text)
  })

  it('gives the same as one edit after the other from the end', () => {
    const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 8 })
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), cuts, fc.string(), (text, positions, replacement) => {
        const sorted = positions.map((at) => Math.min(at, text.length)).toSorted((a, b) => a - b)
        const edits: { start: number; end: number; text: string }[] = []
        for (let i = 0; i + 1 < sorted.length; i += 2) {
          edits.push({ start: sorted[i] ?? 0, end: sorted[i + 1] ?? 0, text: replacement + i })
        }
        const expected = edits.reduceRight(
          (kept, e) => kept.slice(0, e.start) + e.text + kept.slice(e.end),
          text,
        )
        expect(spliceText(text, edits)).toBe(expected)
      }),
    )
  })

  it('refuses edits that overlap, step back or leave the text', () => {
    const at = (start: number, end: number) => ({ start, end, text: '' })
    for (const edits of [
      [at(0, 2), at(1, 3)],
      [at(2, 3), at(0, 1)],
      [at(3, 2)],
      [at(0, 9)],
      [at(-1, 0)],
      [at(NaN, 1)],
    ]) {
      expect(() => spliceText('abcd', edits)).toThrow(RangeError)
    }
  })
})

it('knows whether bytes may have control characters, wherever they begin', () => {
  const place = fc.record({ before: fc.nat({ max: 7 }), length: fc.nat({ max: 2_100 }), at: fc.nat() })
  fc.assert(
    fc.property(place, fc.nat({ max: 255 }), fc.nat({ max: 255 }), ({ before, length, at }, rest, one) => {
      const bytes = new Uint8Array(before + length).subarray(before).fill(rest)
      if (length > 0) bytes[at % length] = one
      const text = Buffer.from(bytes).toString('latin1')
      const has = /[\u0000-\u001f]/.test(text)
      expect(mayHaveControls(bytes)).toBe(has || length < 1_024)
      if (!has) expect(findJsonValue(text, 0, length, false)).toEqual(findJsonValue(text))
    }),
    { numRuns: runs(2_000) },
  )
})
