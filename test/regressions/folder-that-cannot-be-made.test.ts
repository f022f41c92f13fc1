import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cli } from '../behaviour/stage.js'

describe.runIf(existsSync('/proc/self'))('a folder in a file system that makes no folders', () => {
  it('is refused in one line, instead of being tried for ever', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [cli, 'record', '--out', '/proc/nowhere/tapes', '--', 'true'],
      {
        encoding: 'utf8',
        timeout: 60_000,
      },
    )
    expect(status).toBe(1)
    expect(stderr).toMatch(/^wiretape: cannot create a tape in \/proc\/nowhere\/tapes: [^\n]+\n$/)
  })

  it('does not keep a recording from being made elsewhere', () => {
    const folder = mkdtempSync(join(tmpdir(), 'wiretape-test-'))
    try {
      const { status, stderr } = spawnSync(process.execPath, [cli, 'record', '--out', folder, '--', 'true'], {
        encoding: 'utf8',
        timeout: 60_000,
        env: { ...process.env, XDG_DATA_HOME: '/proc/nowhere' },
      })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(readdirSync(folder)).toHaveLength(1)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
