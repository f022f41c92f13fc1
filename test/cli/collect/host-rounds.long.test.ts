import { expect, it } from 'vitest'
import { HostStates } from '../../../src/cli/collect/host-states.js'
import type { ObjectStore } from '../../../src/ship/index.js'
import { folderStore } from './collected.js'
import { keysOf } from './indexed-rows.js'
import { hostsIn } from './host-stage.js'

it('continues with the next hosts where a round ran out of time', async () => {
  const [from, to] = [await folderStore(), await folderStore()]
  const keys = await hostsIn(from, 60)
  /** Each round has time for 20 hosts. */
  let left = 0
  const slow: ObjectStore = {
    ...from,
    async *get(key, range) {
      if ((left -= 1) < 0) await new Promise(() => undefined)
      yield* from.get(key, range)
    },
  }
  const hosts = new HostStates(slow, to, { roundMs: 300 })
  for (let round = 0; round < 20 && (await keysOf(to, 'hosts/')).length < keys.length; round += 1) {
    left = 20
    await hosts.copy()
  }
  expect(await keysOf(to, 'hosts/')).toEqual(keys)
})
