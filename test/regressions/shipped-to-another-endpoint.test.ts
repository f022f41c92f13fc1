import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { storeName } from '../../src/ship/index.js'
import { isShipped, shippedMarkPath, storeNamePath } from '../../src/tape/index.js'
import { newFolder } from '../cli/collect/collected.js'

it('a segment in a bucket of another endpoint may not be deleted once a shipper uses this one', () => {
  const folder = newFolder()
  const path = join(folder, 'recordings', 'a.jsonl')
  for (const file of [path, shippedMarkPath(path)]) mkdirSync(dirname(file), { recursive: true })
  writeFileSync(path, '0123456789')
  const address = 's3://tapes/team'
  const trial = storeName(address, { AWS_ENDPOINT_URL: 'http://localhost:9000' })
  const mark = (targets: readonly string[]): void =>
    writeFileSync(
      shippedMarkPath(path),
      JSON.stringify({ v: 1, session: 's', segment: 0, hash: 'h', bytes: 10, targets }),
    )
  mark([trial])
  expect(isShipped(path, address)).toBe(true)
  const used = storeName(address, {})
  writeFileSync(storeNamePath(folder, address), `${used}\n`)
  expect(isShipped(path, address)).toBe(false)
  mark([trial, used])
  expect(isShipped(path, address)).toBe(true)
  mark([address])
  expect(isShipped(path, address)).toBe(false)
})
