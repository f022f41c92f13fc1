import { appendFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStage, type Stage } from './stage.js'
import { openUi, type UiPage } from './ui-page.js'

describe('the list of recordings of wiretape ui', () => {
  let play: Stage
  let folder: string
  let ui: UiPage | undefined
  beforeEach(() => {
    play = createStage()
    folder = join(play.env['XDG_DATA_HOME']!, 'wiretape/recordings')
    mkdirSync(folder, { recursive: true })
  })
  afterEach(async () => {
    await ui?.close()
    ui = undefined
    await play.close()
  })

  /** Writes in place, so that the inode stays. @param at time of modification, in seconds since 1970 */
  function tape(name: string, label: string, at: number): void {
    const path = join(folder, name)
    writeFileSync(path, `{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"${label}"}\n`)
    utimesSync(path, at, at)
  }

  async function labels(): Promise<string[]> {
    const all = await ui!.get<readonly { readonly label: string }[]>('/api/recordings')
    return all.map(({ label }) => label).toSorted()
  }

  it('reads only files again that changed since the last request', async () => {
    tape('a.jsonl', 'kettle', 1_000)
    tape('b.jsonl', 'teapot', 1_000)
    ui = await openUi(play)
    expect(await labels()).toEqual(['kettle', 'teapot'])
    // Size, time and inode are unchanged, so only the content shows the change.
    tape('a.jsonl', 'cattle', 1_000)
    tape('b.jsonl', 'carpet', 1_000)
    expect(await labels()).toEqual(['kettle', 'teapot'])
    tape('a.jsonl', 'cattle', 2_000)
    expect(await labels()).toEqual(['cattle', 'teapot'])
    tape('b.jsonl', 'a carpet', 1_000)
    expect(await labels()).toEqual(['a carpet', 'cattle'])
  })

  it('adds new files, updates grown ones, and removes deleted ones', async () => {
    tape('a.jsonl', 'kettle', 1_000)
    writeFileSync(join(folder, 'c.jsonl'), 'no tape')
    ui = await openUi(play)
    expect(await labels()).toEqual(['kettle'])
    tape('b.jsonl', 'teapot', 1_000)
    tape('c.jsonl', 'carpet', 1_000)
    expect(await labels()).toEqual(['carpet', 'kettle', 'teapot'])
    appendFileSync(
      join(folder, 'a.jsonl'),
      '{"type":"end","t":"2026-08-01T10:00:09.000Z","exitCode":0,"durationMs":9000}\n',
    )
    rmSync(join(folder, 'b.jsonl'))
    const all = await ui.get<readonly { label: string; durationMs: number | null }[]>('/api/recordings')
    expect(Object.fromEntries(all.map(({ label, durationMs }) => [label, durationMs]))).toEqual({
      carpet: null,
      kettle: 9000,
    })
    // The same name and stamp as the removed file.
    tape('b.jsonl', 'toucan', 1_000)
    expect(await labels()).toEqual(['carpet', 'kettle', 'toucan'])
  })
})
