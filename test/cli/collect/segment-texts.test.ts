import { expect, it } from 'vitest'
import { SegmentTexts } from '../../../src/cli/fleet/segment-texts.js'

it('a query ends when the thread that reads segments for it died', async () => {
  // The sources have no such program beside them, so that the thread dies at its start.
  const texts = new SegmentTexts('/srv/store', 50)
  expect(() => texts.at('a'.repeat(64), 0, 1)).toThrow('cannot read /srv/store: no response')
  await texts.close()
})
