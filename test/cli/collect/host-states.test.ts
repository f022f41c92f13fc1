import { expect, it } from 'vitest'
import { HostStates } from '../../../src/cli/collect/host-states.js'
import type { ObjectStore } from '../../../src/ship/index.js'
import { folderStore } from './collected.js'
import { keysOf } from './indexed-rows.js'
import { hostsIn } from './host-stage.js'

it('copies the states of all hosts although some never arrive', async () => {
  const [from, to] = [await folderStore(), await folderStore()]
  const keys = await hostsIn(from, 30)
  const broken: ObjectStore = {
    ...from,
    async *get(key, range) {
      if (key.endsWith('3.json')) throw new Error('away')
      yield* from.get(key, range)
    },
  }
  await new HostStates(broken, to).copy()
  expect(await keysOf(to, 'hosts/')).toEqual(keys.filter((key) => !key.endsWith('3.json')))
})
