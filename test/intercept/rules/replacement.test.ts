import { describe, expect, it } from 'vitest'
import { compilePattern } from '../../../src/json-path/index.js'
import { parseReplacement, replaceAll } from '../../../src/intercept/rules/replacement.js'

function replaced(
  text: string,
  pattern: string,
  replacement: string,
  longest = 100,
  isLate = false,
): string | undefined {
  const compiled = compilePattern(pattern, false)
  const pieces = parseReplacement(replacement, compiled)
  if (typeof pieces === 'string') throw new Error(pieces)
  return replaceAll(text, compiled, pieces, longest, () => isLate)
}

describe('replaceAll', () => {
  it.each([
    ['aXbX', 'X', '-', 'a-b-'],
    ['ab', 'x*', '-', '-a-b-'],
    ['ab', '$', '!', 'ab!'],
    ['john smith', '(\\w+) (\\w+)', '$2 $1 $$1', 'smith john $1'],
    ['john', '(?P<n>j)(z)?', '${n}$2$0', 'jjohn'],
    ['\u{1f600}x', 'x', 'y', '\u{1f600}y'],
  ])('%s with %s as %s', (text, pattern, replacement, expected) => {
    expect(replaced(text, pattern, replacement)).toBe(expected)
  })

  it('says that nothing matched', () => {
    expect(replaced('abc', 'x', 'y')).toBeUndefined()
  })

  it('gives up when the text grows too long, or the time is over', () => {
    expect(() => replaced('aaaa', 'a', 'x'.repeat(30))).toThrow('the result would be too long')
    expect(() => replaced('a'.repeat(80), 'a', 'x', 1000, true)).toThrow('the pattern matches too often')
    expect(replaced('a'.repeat(60), 'a', 'x', 1000, true)).toBe('x'.repeat(60))
  })
})
