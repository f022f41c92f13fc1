import { afterEach, expect, it } from 'vitest'
import { laneName } from '../../viewer/store/lane-name.js'
import { lanes } from '../../viewer/store/state.js'
import type { Lane } from '../../viewer/worker/protocol.js'

afterEach(() => void (lanes.value = []))

/** Names of lanes of the same label, as tabs and the timeline show them. */
function names(...files: string[]): string[] {
  lanes.value = files.map(
    (name, index) => ({ index, name, sessions: [{ label: 'kettle' }] }) as unknown as Lane,
  )
  return lanes.value.map(laneName)
}

it('names recordings of one label by the time in their file names, so that a narrow column tells them apart', () => {
  const at = (time: string): string => `${time}-005Z-kettle.jsonl`
  expect(names(at('2026-11-26T17-40-51'), at('2026-11-26T17-41-02'))).toEqual([
    '17:40:51 UTC · kettle',
    '17:41:02 UTC · kettle',
  ])
  expect(names(at('2026-11-25T17-40-51'), at('2026-11-26T17-40-51'))).toEqual([
    '2026-11-25 17:40:51 UTC · kettle',
    '2026-11-26 17:40:51 UTC · kettle',
  ])
  expect(names(at('2026-11-26T17-40-51'), 'copy.jsonl')).toEqual([
    '2026-11-26 17:40:51 UTC · kettle',
    'copy · kettle',
  ])
  expect(names(at('2026-11-26T17-40-51'))).toEqual(['kettle'])
})
