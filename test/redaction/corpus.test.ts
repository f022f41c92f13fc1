import { describe, expect, it } from 'vitest'
import { defaultRedactor } from './redacting.js'
import { heldOutInnocents, heldOutSecrets } from './corpus/held-out.js'
import { innocents, type Innocent } from './corpus/innocents.js'
import { isCaught, leftOf } from './corpus/measure.js'
import { secrets, type Planted } from './corpus/secrets.js'

/** Of a corpus, which share of a group is caught whole. */
function caught(corpus: readonly Planted[], group: RegExp): { share: number; count: number } {
  const wanted = corpus.filter((planted) => group.test(planted.group))
  const found = wanted.filter((planted) => isCaught(defaultRedactor(), planted))
  return { share: found.length / wanted.length, count: wanted.length }
}

function changed(corpus: readonly Innocent[]): string[] {
  return corpus
    .filter(({ surface, text }) => leftOf(defaultRedactor(), surface, text) !== text)
    .map(({ text }) => text)
}

describe.each([
  ['the corpus that the rules were made with', secrets],
  ['a corpus kept apart', heldOutSecrets],
])('of %s, the default rules catch', (_, corpus) => {
  it.each([
    ['tokens of vendors', /^vendor/, 0.92, 140],
    ['keys behind the names of vendors', /^keyword/, 0.85, 100],
    ['assignments in text', /^assignment/, 0.85, 40],
    ['secrets in odd places', /^adversarial/, 0.85, 90],
  ])('%s', (_, group, floor, least) => {
    const { share, count } = caught(corpus, group)
    expect(count).toBeGreaterThanOrEqual(least)
    expect(share).toBeGreaterThanOrEqual(floor)
  })
})

describe('what must stay', () => {
  it('is changed in four cases of a hundred at most', () => {
    expect(secrets.length + heldOutSecrets.length).toBeGreaterThanOrEqual(500)
    expect(innocents.length + heldOutInnocents.length).toBeGreaterThanOrEqual(300)
    expect(changed(innocents)).toEqual([])
    expect(changed(heldOutInnocents).length / heldOutInnocents.length).toBeLessThanOrEqual(0.04)
  })

  it('is what is left when a text is redacted again', () => {
    for (const { surface, text } of secrets) {
      if (surface !== 'string' && surface !== 'line') continue
      const once = leftOf(defaultRedactor(), surface, text)
      expect(leftOf(defaultRedactor(), surface, once)).toBe(once)
    }
  })
})
