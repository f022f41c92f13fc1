import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTextSearch, useWebAssembly } from '../../src/wire/index.js'

describe('a search by WebAssembly', () => {
  beforeEach(() => useWebAssembly())
  afterEach(() => useWebAssembly(false))

  it('finds what the native search finds', () => {
    const texts = ['"timestamp', '\\u00', 'aab', 'a']
    const parts = fc.constantFrom(...texts, '"time', 'stamp', '\\u0', 'aa', 'b', '"t...s...p', 'x'.repeat(15))
    const searches = texts.map((text) => ({ text, search: createTextSearch(text, 200)! }))
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (all) => {
        const bytes = Buffer.from(all.join(''))
        for (const { text, search } of searches) expect(search(bytes)).toBe(bytes.includes(text))
      }),
      { numRuns: 1_000 },
    )
  })

  it('tells that there are too many bytes', () => {
    expect(createTextSearch('a', 3)!(Buffer.from('aaaa'))).toBe(undefined)
  })
})
