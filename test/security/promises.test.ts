import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Whether a name is that of a folder of tests, or of a file of them, which may be one of the long ones. */
function isTest(name: string): boolean {
  const ends = name.endsWith('/') ? [''] : ['.test.ts', '.long.test.ts']
  return ends.some((end) => existsSync(resolve(root, 'test', `${name}${end}`)))
}

it('every promise of SECURITY.md says how it is kept, and names existing tests', () => {
  const rows = readFileSync(resolve(root, 'SECURITY.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| **') && !line.startsWith('| promise'))
    .map((line) => line.slice(2, -2).split(' | '))
  expect(rows.length).toBeGreaterThan(15)
  for (const row of rows) {
    const [promise, how = '', shownBy = ''] = row
    expect([promise, row.length, how !== '']).toEqual([promise, 3, true])
    const names = [...shownBy.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
    const missing = names.filter((name) => !isTest(name))
    expect([promise, names.length > 0, missing]).toEqual([promise, true, []])
  }
})
