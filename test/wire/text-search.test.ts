import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { containsText, createMessageMemory } from '../../src/wire/index.js'
import { messageModule } from '../message-module.js'

const texts = ['"timestamp', '\\u00', 'aab', 'a']

describe('a search by WebAssembly', () => {
  beforeAll(() => void createMessageMemory(messageModule))
  afterAll(() => void createMessageMemory(undefined))

  it('finds what the native search finds', () => {
    const parts = fc.constantFrom(...texts, '"time', 'stamp', '\\u0', 'aa', 'b', '"t...s...p', 'x'.repeat(15))
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (all) => {
        const bytes = Buffer.from(all.join(''))
        for (const text of texts) expect(containsText(bytes, text)).toBe(bytes.includes(text))
      }),
      { numRuns: 1_000 },
    )
  })

  it('finds a text anywhere in many bytes', () => {
    const bytes = new Uint8Array(70_000).fill(0x2e)
    for (const end of [32_768, 65_536, bytes.length])
      for (let at = end - 40; at <= end - 10; at += 1) {
        const place = bytes.subarray(at, at + 10)
        place.set(Buffer.from('"timestamp'))
        expect(containsText(bytes, '"timestamp')).toBe(true)
        expect(containsText(bytes.subarray(0, at + 9), '"timestamp')).toBe(false)
        place.fill(0x2e)
      }
  })
})
