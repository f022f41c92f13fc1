import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cli } from '../behaviour/stage.js'
import { mini, useHome } from './home.js'

const { home, env } = useHome('wiretape home ')

describe('record --keep', () => {
  it('deletes older recordings of the label, and no others', async () => {
    const out = join(home(), 'tapes')
    const old = (label: string, day: string): string => {
      const file = join(out, `${day}T00-00-00-000Z-${label}.jsonl`)
      mkdirSync(out, { recursive: true })
      const meta = {
        v: 1,
        type: 'meta',
        startedAt: `${day}T00:00:00.000Z`,
        label,
        command: ['x'],
        mcpTapVersion: '1',
      }
      writeFileSync(file, `${JSON.stringify(meta)}\n`)
      return file
    }
    const gone = old('mini', '2020-01-01')
    old('other', '2020-01-01')
    old('mini-2', '2020-01-02')
    const child = spawn(
      process.execPath,
      [cli, 'record', '--out', out, '--label', 'mini', '--keep', '30d', '--', mini.command, ...mini.args],
      { env: env(), stdio: ['pipe', 'ignore', 'inherit'] },
    )
    await expect.poll(() => existsSync(gone), { timeout: 20_000 }).toBe(false)
    child.stdin.end()
    await once(child, 'close')
    const left = readdirSync(out).map((name) => name.slice(0, 10) + name.slice(24))
    expect(left.filter((name) => name.startsWith('2020')).sort()).toEqual([
      '2020-01-01-other.jsonl',
      '2020-01-02-mini-2.jsonl',
    ])
  })
})
