import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sharedFixture } from '../shared-fixtures.js'
import { imported, refusal, type Loose } from './import-stage.js'

const file = sharedFixture('assay/cases.json')
const cases: Loose[] = file === undefined ? [] : JSON.parse(readFileSync(file, 'utf8'))

describe.skipIf(file === undefined)('the published cases of the documented profile', () => {
  it('are all there', () => expect(cases.length).toBe(69))

  it.each(cases.map((one) => [one.name as string, one] as const))('%s', async (name, one) => {
    const { format, input_text: text, documented } = one
    if (documented.exit !== 0) {
      const cause = documented.stderr.split('\n').at(-1).trim()
      expect(await refusal(format, text)).toContain(cause)
      return
    }
    const result = await imported(format, text, { episode: { id: name } })
    expect(result.messages).toBe(documented.parsed_events)
    const wanted = documented.trace.map((event: Loose) =>
      JSON.stringify(event).replace('"timestamp":"<NOW>"', `"timestamp":${result.events[0].timestamp}`),
    )
    const lines = result.text.split('\n').slice(0, -1)
    if (one.nondeterministic_flush_order) expect(lines.toSorted()).toEqual(wanted.toSorted())
    else expect(lines).toEqual(wanted)
    for (const warning of (documented.stderr ?? '').split('\n').filter(Boolean)) {
      expect(result.said).toContain(warning.replace(/^[a-z0-9_]+: /, ''))
    }
  })
})
