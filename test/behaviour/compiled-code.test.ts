import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { leftOut, wiretape } from './run-cli.js'
import { cli } from './stage.js'

it('keeps compiled code beside the program, for its owner only, where Node can', async () => {
  expect(await wiretape(['ls', '--help'])).toMatchObject({ code: 0, stderr: '' })
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (leftOut(major > 22 || (major === 22 && minor >= 8), 'compiled code: Node 22.8 or newer keeps it'))
    return
  const folder = join(dirname(cli), 'code')
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  // One folder for each set of flags of V8.
  const kept = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  expect(kept.filter((name) => name.startsWith(`v${process.versions.node}-`)).length).toBeGreaterThan(5)
})
