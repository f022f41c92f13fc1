/** `wiretape prune`: the built program deletes recordings of a data folder. */
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDataFolder, daysAgo, expectSchema, toolCall, type DataFolder } from './data-folder.js'
import { server, until, useStage } from './stage.js'
import { plainEnv, wiretape } from './run-cli.js'

let data: DataFolder
beforeEach(() => {
  data = createDataFolder()
  for (const [file, days] of [
    ['old.jsonl', 40],
    ['middle.jsonl', 10],
    ['new.jsonl', 1],
  ] as const) {
    const label = file === 'middle.jsonl' ? 'files' : 'shop'
    data.put(file, { label, at: daysAgo(days), asked: [toolCall('find', { q: 'x'.repeat(2000) }, 'y')] })
  }
  writeFileSync(join(data.recordings, 'notes.txt'), 'mine')
})
afterEach(() => data.close())

const left = (): string[] => readdirSync(data.recordings).toSorted()

describe('prune', () => {
  it('deletes recordings that ended long ago, and lists them', async () => {
    const { stdout, stderr, code } = await data.run('prune', '--older-than', '30d')
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(stdout).toMatch(
      /^started \(UTC\) +size  file\n.* 2\.\d kB  old\.jsonl\n1 recording .* deleted, 2 recordings .* stay\n$/,
    )
    expect(left()).toEqual(['middle.jsonl', 'new.jsonl', 'notes.txt'])
  })

  it('deletes the oldest until the rest is small enough', async () => {
    const { stdout } = await data.run('prune', '--keep-size', '6kB', '--json')
    expectSchema('prune', JSON.parse(stdout))
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: false, deleted: [{ label: 'shop' }], kept: 2 })
    expect(left()).toEqual(['middle.jsonl', 'new.jsonl', 'notes.txt'])
    await data.run('prune', '--keep-size', '1kB', '--label', 'files')
    expect(left()).toEqual(['new.jsonl', 'notes.txt'])
  })

  it('only lists with --dry-run', async () => {
    const { stdout } = await data.run('prune', '--older-than', '5d', '--dry-run')
    expect(stdout).toMatch(
      /old\.jsonl\n.*middle\.jsonl\n2 recordings \(.*\) would be deleted, 1 recording \(.*\) stays\n$/,
    )
    expect(left()).toHaveLength(4)
  })

  it('uses the last write of a recording that was cut off', async () => {
    const path = join(data.recordings, 'old.jsonl')
    const text = readFileSync(path, 'utf8').trimEnd()
    writeFileSync(path, text.slice(0, text.lastIndexOf('\n') + 1))
    await data.run('prune', '--older-than', '30d')
    expect(left()).toContain('old.jsonl')
    utimesSync(path, daysAgo(40), daysAgo(40))
    await data.run('prune', '--older-than', '30d')
    expect(left()).not.toContain('old.jsonl')
  })

  it.each([
    [[], 'the recordings to delete are needed (select them with --older-than 30d, --keep-size 5GB or both)'],
    [['--older-than', '30'], 'Use an age such as 30d or 12h.'],
    [['--older-than', '5s'], 'Use an age such as 30d or 12h.'],
    [['--keep-size', '5'], 'Use a size such as 5GB or 500MB.'],
  ])('refuses %j and deletes nothing', async (args, why) => {
    const { code, stderr, stdout } = await data.run('prune', ...args)
    expect({ code, stdout, stderr }).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(why),
    })
    expect(left()).toHaveLength(4)
  })
})

describe('prune while a recording runs', () => {
  const stage = useStage()

  it('never deletes it', async () => {
    const folder = join(stage.env['XDG_DATA_HOME']!, 'wiretape/recordings')
    const actor = stage.start(stage.record(server('mini-mcp.mjs'), ['--out', folder]))
    await actor.send('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    await until('the recording is there', () => {
      const names = existsSync(folder) ? readdirSync(folder) : []
      return names.some((name) => readFileSync(join(folder, name), 'utf8').includes('"result"'))
    })
    const { stdout } = await wiretape(['prune', '--keep-size', '0kB'], {
      cwd: stage.folder,
      env: plainEnv(stage.env),
    })
    expect(stdout).toMatch(/^0 recordings \(0 B\) deleted, 1 recording \(.*\) stays\n$/)
    actor.stdin.end()
    await actor.ended
  })
})
