import { expect, it } from 'vitest'
import { openStoreSource } from '../../src/cli/collect/store-source.js'
import { manifestKey } from '../../src/ship/index.js'
import { folderStore } from '../cli/collect/collected.js'

it('a manifest that cannot be read holds up no segment that is listed before it', async () => {
  const folder = await folderStore()
  const hashes = ['1', '2', '3', '4'].map((digit) => digit.repeat(64))
  for (const hash of hashes) await folder.put(manifestKey(hash), Buffer.from(JSON.stringify({ hash })))
  const done = new Set<string>()
  const source = await openStoreSource(folder.address, {}, async (key) => done.has(key.slice(-64)))
  let listed: string[] = []
  for await (const { key } of folder.list('segments/')) listed = [...listed, key]
  const { store } = source
  const get = store.get.bind(store)
  store.get = (key) => {
    if (key === listed[2]) throw new Error('refused')
    return get(key)
  }
  const delivered: string[] = []
  for (let pass = 0; pass < 6; pass += 1)
    for (const delivery of await source.next(64, 0).catch(() => [])) {
      done.add(delivery.hash!)
      delivered.push(delivery.hash!)
      await delivery.done()
    }
  expect(delivered.length).toBe(3)
  await expect(source.next(64, 0).then(() => source.next(64, 0))).rejects.toThrow('refused')
  await source.close()
})
