import { lintSource } from '@secretlint/core'
import { creator } from '@secretlint/secretlint-rule-preset-recommend'
import { expect, it, vi } from 'vitest'
import { defaultRedactor } from './redacting.js'
import { leftOf } from './corpus/measure.js'
import { secrets } from './corpus/secrets.js'

async function findings(text: string): Promise<string[]> {
  const { messages } = await lintSource({
    source: { filePath: 'a.txt', content: text, contentType: 'text', ext: '.txt' },
    options: { config: { rules: [{ id: 'preset', rule: creator }] } },
  })
  return messages.map(({ ruleId, message }) => `${ruleId}: ${message}`)
}

it('redacted secrets hold none that the rules of secretlint find', { timeout: 120_000 }, async () => {
  // Its profiler keeps every mark of the process, and searches them all at each new one.
  const mark = vi.spyOn(performance, 'mark').mockImplementation(() => undefined as never)
  const texts = secrets.filter(({ surface }) => surface === 'string')
  const before = await Promise.all(texts.map(({ text }) => findings(text)))
  expect(before.filter((found) => found.length > 0).length).toBeGreaterThan(20)
  const after = await Promise.all(
    texts.map(({ surface, text }) => findings(leftOf(defaultRedactor(), surface, text))),
  )
  expect(after.flat()).toEqual([])
  mark.mockRestore()
})
