import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { profiles } from '../../src/formats/index.js'
import { sharedFixture } from '../shared-fixtures.js'
import { imported, refusal, type Loose } from './import-stage.js'

const file = sharedFixture('assay/cases.json')
const cases: Loose[] = file === undefined ? [] : JSON.parse(readFileSync(file, 'utf8'))

describe.skipIf(file === undefined).each(profiles)('the published cases of the %s profile', (profile) => {
  it('are all there', () => expect(cases.length).toBe(69))

  it.each(cases.map((one) => [one.name as string, one] as const))('%s', async (name, one) => {
    const { format, input_text: text, [profile]: outcome } = one
    if (outcome.exit !== 0) {
      const cause = outcome.stderr.split('\n').at(-1).trim()
      expect(await refusal(format, text, profile)).toContain(cause)
      return
    }
    const result = await imported(format, text, { episode: { id: name }, profile })
    expect(result.messages).toBe(outcome.parsed_events)
    const wanted = outcome.trace.map((event: Loose) =>
      JSON.stringify(event).replace('"timestamp":"<NOW>"', `"timestamp":${result.events[0].timestamp}`),
    )
    const lines = result.text.split('\n').slice(0, -1)
    if (one.nondeterministic_flush_order) expect(lines.toSorted()).toEqual(wanted.toSorted())
    else expect(lines).toEqual(wanted)
    for (const warning of (outcome.stderr ?? '').split('\n').filter(Boolean)) {
      expect(result.said).toContain(warning.replace(/^[a-z0-9_]+: /, ''))
    }
  })
})
