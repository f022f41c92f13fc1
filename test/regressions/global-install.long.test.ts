/** `npm install --global .` in a fresh clone: npm links the folder, and leaves out a command that is not built yet. */
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { plainEnv, run } from '../behaviour/run-cli.js'

const root = resolve(import.meta.dirname, '../..')
const notCloned = new Set(['.git', 'node_modules', 'dist', 'build', 'test', 'bench'])

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(os.tmpdir(), 'wiretape-clone-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('installs a command that works', async () => {
  const clone = join(folder, 'clone')
  cpSync(root, clone, {
    recursive: true,
    filter: (from) => resolve(from, '..') !== root || !notCloned.has(basename(from)),
  })
  // In the place of `npm ci`, which needs a network.
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  const prefix = join(folder, 'prefix')
  const env = plainEnv({ HOME: folder, npm_config_cache: join(folder, 'cache') })
  const installed = await run(['npm', 'install', '--global', '.', '--prefix', prefix, '--offline'], {
    cwd: clone,
    env,
  })
  expect(installed).toMatchObject({ code: 0 })
  const { stdout } = await run([join(prefix, 'bin', 'wiretape'), '--version'], { cwd: folder, env })
  expect(stdout).toMatch(/^\d+\.\d+\.\d+/)
})
