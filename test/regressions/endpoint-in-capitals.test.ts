import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { storeName } from '../../src/ship/index.js'
import { isShipped, shippedMarkPath } from '../../src/tape/index.js'
import { newFolder } from '../cli/collect/collected.js'

it('a segment shipped to an endpoint with a scheme in capitals counts as shipped to its bucket', () => {
  const path = join(newFolder(), 'recordings', 'a.jsonl')
  for (const file of [path, shippedMarkPath(path)]) mkdirSync(dirname(file), { recursive: true })
  writeFileSync(path, '0123456789')
  const target = storeName('s3://tapes/team', { AWS_ENDPOINT_URL: 'HTTPS://minio.example:9000/' })
  const mark = { v: 1, session: 's', segment: 0, hash: 'h', bytes: 10, targets: [target] }
  writeFileSync(shippedMarkPath(path), JSON.stringify(mark))
  expect(isShipped(path, 's3://tapes/team')).toBe(true)
  expect(isShipped(path, 's3://tapes')).toBe(false)
})
