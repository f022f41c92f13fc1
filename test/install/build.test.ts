import { expect, it } from 'vitest'
import { ensureBuilt } from '../../scripts/bootstrap.mjs'

it('a build of sources that did not change builds nothing', () => {
  // The one before all tests built what had changed.
  expect(ensureBuilt()).toBe(false)
})
