import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffLines } from '../../src/tui/line-diff.js'

describe('a difference of lines', () => {
  it('is what changed, among what did not', () => {
    expect(diffLines(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual([
      { kind: 'same', text: 'a' },
      { kind: 'removed', text: 'b' },
      { kind: 'added', text: 'x' },
      { kind: 'same', text: 'c' },
      { kind: 'added', text: 'd' },
    ])
  })

  it('holds both texts, and as much in common as there can be', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = diffLines(before, after)
        const side = (other: string): string[] =>
          diff.filter(({ kind }) => kind !== other).map(({ text }) => text)
        expect(side('added')).toEqual(before)
        expect(side('removed')).toEqual(after)
        expect(diff.filter(({ kind }) => kind === 'same')).toHaveLength(longestCommon(before, after))
      }),
    )
  })

  it('of texts with nothing in common is one after the other', () => {
    const before = Array.from({ length: 2000 }, (_, i) => `a${i}`)
    const after = Array.from({ length: 2000 }, (_, i) => `b${i}`)
    const diff = diffLines(before, after)
    expect(diff).toHaveLength(4000)
    expect(diff[0]!.kind).toBe('removed')
    expect(diff[3999]!.kind).toBe('added')
  })
})

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0))
  for (let i = 1; i <= a.length; i += 1)
    for (let j = 1; j <= b.length; j += 1)
      table[i]![j] =
        a[i - 1] === b[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!)
  return table[a.length]![b.length]!
}
