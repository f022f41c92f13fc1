import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createTextStore } from '../../src/tape/text-store.js'

describe('the store of texts', () => {
  it('returns exactly the stored text, from memory and from a file', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 300 })),
        fc.constantFrom(0, 100, 1_000_000),
        (texts, inMemory) => {
          const store = createTextStore(inMemory)
          const numbers = texts.map((text) => store.add(text))
          expect(numbers).toEqual(texts.map((_, i) => i))
          expect(numbers.map((number) => store.read(number))).toEqual(texts)
          store.close()
          store.close()
        },
      ),
    )
  })

  it('reads while it is written, beyond what memory takes', () => {
    const store = createTextStore(10_000)
    for (let i = 0; i < 5_000; i += 1) {
      store.add(`${i} ${'x'.repeat(i % 700)}`)
      const back = i >> 1
      expect(store.read(back)).toBe(`${back} ${'x'.repeat(back % 700)}`)
    }
    store.close()
  })

  it('leaves nothing in the temporary folder, also while it is open', () => {
    const folder = mkdtempSync(join(os.tmpdir(), 'wiretape-test-'))
    vi.stubEnv('TMPDIR', folder)
    const store = createTextStore(0)
    store.add('one')
    store.add('two')
    expect(store.read(0)).toBe('one')
    expect(readdirSync(folder)).toEqual([])
    store.close()
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
})
