import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'

async function skipTextWith(webAssembly: boolean) {
  vi.resetModules()
  const { skipText, useWebAssembly } = await import('../../src/wire/index.js')
  useWebAssembly(webAssembly)
  return skipText
}

describe('a long JSON text', () => {
  it('ends at the same byte with and without WebAssembly', async () => {
    const [slow, fast] = [await skipTextWith(false), await skipTextWith(true)]
    const special = fc.constantFrom(0x22, 0x5c, 0x0a, 0x00, 0x1f, 0x20, 0x7f, 0x80, 0xc3, 0xff)
    fc.assert(
      fc.property(
        fc.integer({ min: 300, max: 40_000 }),
        fc.array(fc.tuple(fc.nat({ max: 40_000 }), special), { maxLength: 4 }),
        fc.nat({ max: 9 }),
        (size, places, start) => {
          const bytes = new Uint8Array(size + 20).fill(0x61)
          for (const [at, byte] of places) if (at < size) bytes[at] = byte
          bytes.set([0x22, 0x0a], size)
          expect(fast(bytes, start)).toBe(slow(bytes, start))
        },
      ),
      { numRuns: 300 },
    )
  })
})
