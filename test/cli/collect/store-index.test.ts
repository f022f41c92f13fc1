import { existsSync, readdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { indexFiles } from '../../../src/cli/fleet/store-index.js'
import { Bus, collectorOf, folderStore, newFolder, sealed, tapeOf } from './collected.js'

it('copies of an index are deleted when they are too many and unused for an hour', async () => {
  const [bus, target] = [new Bus(await folderStore()), await folderStore()]
  await bus.ship(sealed(tapeOf(2)))
  await collectorOf(bus.source(), target).collector.run(new AbortController().signal, true)
  const store = { ...target, kind: 's3' as const }
  const data = newFolder()
  const query = async (): Promise<readonly string[]> =>
    (await indexFiles(store, { dataFolder: data, complain: async () => undefined }, undefined)).rows
  const rows = await query()
  const folder = join(data, 'fleet', readdirSync(join(data, 'fleet'))[0]!)
  const [small, part, large, old] = ['small', 'a.parquet.1-x.part', 'large', 'old.part'].map((name) =>
    join(folder, name),
  )
  const twoHoursAgo = new Date(Date.now() - 2 * 3_600_000)
  const days = new Date(Date.now() - 3 * 86_400_000)
  for (const path of [small!, part!, large!, old!]) writeFileSync(path, 'x')
  utimesSync(small!, twoHoursAgo, twoHoursAgo)
  utimesSync(old!, days, days)
  // Two queries of one process do not take each other's files.
  for (const found of await Promise.all([query(), query()])) expect(found).toEqual(rows)
  expect([small, part, large, old].map((path) => existsSync(path!))).toEqual([true, true, true, true])
  // Holes: it takes no room.
  truncateSync(large!, 4 * 1024 ** 3)
  utimesSync(large!, twoHoursAgo, twoHoursAgo)
  utimesSync(small!, new Date(), new Date())
  await query()
  expect([small, part, large, old].map((path) => existsSync(path!))).toEqual([true, true, false, false])
  expect(rows.every((path) => existsSync(path))).toBe(true)
})

it('says how many batches of a later version a query leaves out', async () => {
  const [bus, target] = [new Bus(await folderStore()), await folderStore()]
  await bus.ship(sealed(tapeOf(2)))
  await collectorOf(bus.source(), target).collector.run(new AbortController().signal, true)
  await target.put('index/batches/later.json', Buffer.from('{"v":2}'))
  const complaints: string[] = []
  const complain = async (message: string, hint?: string): Promise<void> => {
    complaints.push(`${message} (${hint})`)
  }
  const { rows } = await indexFiles(target, { dataFolder: newFolder(), complain }, undefined)
  expect(rows).toHaveLength(1)
  expect(complaints).toEqual([
    `${target.address}: 1 batch of the index cannot be read, and its messages are left out (update wiretape if a newer version wrote it)`,
  ])
})
