import { expect, it } from 'vitest'
import { createWaiting } from '../../src/replay/waiting.js'

// A warning of the process fails it (test/setup.ts).
it('waits for longer than a timer can, until it is interrupted', async () => {
  const aborting = new AbortController()
  let isOver = false
  const over = createWaiting(aborting.signal)
    .until(() => false, 2 ** 40)
    .then(() => (isOver = true))
  // A timer that overflows is due at once.
  for (let turns = 0; turns < 20; turns += 1) await new Promise((done) => setTimeout(done, 1))
  expect(isOver).toBe(false)
  aborting.abort()
  await over
})
