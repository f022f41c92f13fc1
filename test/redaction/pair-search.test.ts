import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { messageModule } from '../message-module.js'

async function triggersWith(webAssembly: boolean) {
  vi.resetModules()
  const { createMessageMemory } = await import('../../src/wire/index.js')
  createMessageMemory(webAssembly ? messageModule : undefined)
  const triggers = await import('../../src/redaction/trigger.js')
  triggers.hasTrigger('r'.repeat(5_000))
  const { pairSearch } = await import('../../src/redaction/pair-search.js')
  expect(pairSearch !== undefined).toBe(webAssembly)
  return triggers
}

const [slow, fast] = [await triggersWith(false), await triggersWith(true)]
const fillers = [
  'r',
  'Lorem ipsum dolor sit amet, ',
  '{\\"id\\":17,\\"name\\":\\"item\\"},',
  'kGx9+Qz/2YbT7w',
  '日本語',
]

describe('the search with WebAssembly', () => {
  it('finds every literal of the rules where the search without it does', () => {
    let found = 0
    for (const [n, { literal, before, after }] of slow.triggers.entries()) {
      const token = ` ${before?.[0] ?? ''}${literal}${after?.[0] ?? ''}${'a1B2c3D4e5'.repeat(5)} `
      const text = (fillers[n % fillers.length] ?? '').repeat(4_000).slice(0, 4_000 + 397 * (n % 11))
      const at = (7 * n) % text.length
      const planted = text.slice(0, at) + token + text.slice(at)
      expect([literal, fast.findTrigger(planted, 0)]).toEqual([literal, slow.findTrigger(planted, 0)])
      const bytes = new TextEncoder().encode(planted)
      const has = slow.bytesHaveTrigger(bytes, 0, bytes.length)
      expect([literal, fast.bytesHaveTrigger(bytes, 0, bytes.length)]).toEqual([literal, has])
      if (has) found += 1
    }
    expect(found).toBeGreaterThan(slow.triggers.length / 2)
  })

  it('gives the same for any text', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.constantFrom(...slow.triggers.map(({ literal }) => literal)),
      fc.tuple(fc.constantFrom(...fillers), fc.nat({ max: 400 })).map(([text, times]) => text.repeat(times)),
    )
    fc.assert(
      fc.property(fc.array(part, { minLength: 10, maxLength: 40 }), (parts) => {
        const text = parts.join('').padEnd(5_000, 'q')
        expect(fast.findTrigger(text, 0)).toBe(slow.findTrigger(text, 0))
      }),
      { numRuns: 300 },
    )
  })
})
