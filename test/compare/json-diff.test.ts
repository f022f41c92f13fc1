import { assert, jsonValue, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalJson,
  describeDifference,
  diffJson,
  toJsonPath,
  toPointer,
  type Difference,
  type DiffOptions,
} from '../../src/compare/index.js'

function diff(before: string, after: string, options: DiffOptions = {}): string[] {
  const whole = (text: string) => ({ start: 0, end: text.length })
  const { differences, more } = diffJson(before, whole(before), after, whole(after), options)
  const lines = differences.map(
    ({ kind, place, before: old, after: now }) =>
      `${kind} ${toJsonPath(place)} ${[old, now].filter((text) => text !== undefined).join(' → ')}`,
  )
  return more > 0 ? [...lines, `${more} more`] : lines
}

describe('the difference of two JSON values', () => {
  it.each([
    ['{"a":1,"b":[true,null]}', '{ "b": [true, null], "a": 1.0 }'],
    ['12345678901234567890', '1234567890123456789e1'],
    ['"\\u0061\\/"', '"a/"'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"text":"{\\"x\\": 1, \\"y\\": 2}"}', '{"text":"{\\"y\\":2,\\"x\\":1e0}"}'],
  ])('is nothing where only the spelling differs: %s and %s', (before, after) => {
    expect(diff(before, after)).toEqual([])
    expect(diff(before, after, { exact: true })).not.toEqual([])
  })

  it.each<[string, string, string[]]>([
    ['{"a":1}', '{"a":2}', ['changed $.a 1 → 2']],
    ['{"a":1}', '{"b":1}', ['removed $.a 1', 'added $.b 1']],
    ['[1,2,3,4]', '[1,3,4]', ['removed $[1] 2']],
    ['[1,3,4]', '[1,2,3,4]', ['added $[1] 2']],
    ['[{"n":"a"},{"n":"b"}]', '[{"n":"a"},{"n":"c"}]', ['changed $[1].n "b" → "c"']],
    [
      '12345678901234567890',
      '12345678901234567891',
      ['changed $ 12345678901234567890 → 12345678901234567891'],
    ],
    ['{"a":1}', '[1]', ['changed $ {"a":1} → [1]']],
    ['{"odd name":{"it\'s":1}}', '{"odd name":{"it\'s":null}}', ["changed $['odd name']['it\\'s'] 1 → null"]],
    ['{"text":"{\\"x\\":1}"}', '{"text":"{\\"x\\":2}"}', ['changed $.text.x 1 → 2']],
    ['{"text":"{\\"x\\":1}"}', '{"text":"gone"}', ['changed $.text "{\\"x\\":1}" → "gone"']],
  ])('of %s and %s', (before, after, expected) => {
    expect(diff(before, after)).toEqual(expected)
  })

  it('is one line, however its values were printed', () => {
    const before = JSON.stringify({ name: 'An n', is: [1] }, null, 2)
    const told = (difference: Pick<Difference, 'before' | 'after'>): string =>
      describeDifference({
        kind: difference.after === undefined ? 'removed' : 'changed',
        place: ['a'],
        ...difference,
      })
    expect(told({ before })).toBe('- a {"name":"An n","is":[1]}')
    expect(told({ before, after: 'null' })).toBe('~ a {"name":"An n","is":[1]} → null')
    for (let length = 0; length < before.length; length += 1)
      expect(told({ before: `${before.slice(0, length)}…` })).not.toContain('\n')
  })

  it('lists so many and counts the rest', () => {
    expect(diff('[1,2,3]', '[4,5,6]', { most: 1 })).toEqual(['changed $[0] 1 → 4', '2 more'])
  })

  it('does not overflow on the deepest value', () => {
    const deep = (inner: string): string => '['.repeat(20_000) + inner + ']'.repeat(20_000)
    expect(diff(deep('1'), deep('2'))).toHaveLength(1)
  })

  it('is empty for a value and itself printed in another way, and not for another value', () => {
    assert(
      property(jsonValue(), jsonValue(), (one, other) => {
        const a = JSON.stringify(one)
        const b = JSON.stringify(other)
        expect(diff(a, JSON.stringify(one, null, 3))).toEqual([])
        const same = canonicalJson(a, 0) === canonicalJson(b, 0)
        expect(diff(a, b).length === 0).toBe(same)
      }),
    )
  })
})

describe('a place', () => {
  it('is written as a JSON Pointer', () => {
    expect(toPointer(['a/b', 0, 'c~d'])).toBe('/a~1b/0/c~0d')
    expect(toPointer([])).toBe('')
  })
})
