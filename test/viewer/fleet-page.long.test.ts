import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  cli,
  createStage as createPlayStage,
  type Stage as PlayStage,
  viewerAddress,
} from '../behaviour/stage.js'
import { manifestKey, openStore, segmentKey } from '../../src/ship/index.js'
import { sealed, tapeOf } from '../cli/collect/collected.js'
import { picture, seriousFindings } from './looks.js'
import { read } from './on-the-page.js'
import { expectQuiet, hasBrowser, useViewer } from './stage.js'

describe.skipIf(!hasBrowser)('the sessions of a store in wiretape ui', () => {
  const stage = useViewer()
  let play: PlayStage
  let folder: string
  let url: string
  beforeAll(async () => {
    play = createPlayStage()
    folder = join(play.env['XDG_DATA_HOME']!, 'store')
    mkdirSync(folder, { recursive: true })
    const store = await openStore(folder, {})
    for (const [session, host, label, calls] of [
      ['a', 'laptop-1', 'shop', 30],
      ['b', 'laptop-2', 'search', 2],
    ] as const) {
      const one = sealed(tapeOf(calls, { session: `${session}0000000-0000-4000-8000-000000000000`, label }), {
        session,
        host,
        label,
        messages: calls * 2,
      })
      await store.put(segmentKey(one.manifest), one.packed)
      await store.put(manifestKey(one.manifest.hash), Buffer.from(JSON.stringify(one.manifest)))
    }
    await store.close()
    const actor = play.start([process.execPath, cli, 'ui', '--no-open', '--at', folder])
    url = await viewerAddress(actor)
  })
  afterAll(async () => {
    await play.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('are listed with their hosts, open from the store, and are asked with SQL where DuckDB is installed', async () => {
    const page = await stage.open(url)
    const shop = page.locator('.recording', { hasText: 'shop' })
    await shop.waitFor()
    expect(await shop.textContent()).toContain('ann@laptop-1')
    // Actions on this machine are not offered for another one.
    expect(await page.getByRole('button', { name: /Delete|Connect|Search messages/ }).count()).toBe(0)
    await page.getByRole('searchbox').fill('laptop-2')
    await shop.waitFor({ state: 'detached' })
    await page.getByRole('searchbox').fill('')
    await page.getByRole('button', { name: 'SQL' }).click()
    await page.getByRole('textbox', { name: /SQL query/ }).fill('select 1')
    await page.getByRole('button', { name: 'Run' }).click()
    const failure = page.getByRole('alert')
    await failure.filter({ hasText: /DuckDB, which is not installed.*npm install|has no index/ }).waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await seriousFindings(page)).toEqual([])
      await picture(page, `fleet-${colorScheme}`)
    }
    await shop.click()
    await read(page, 60)
    expect(await page.getByRole('button', { name: /Connect to the server/ }).count()).toBe(0)
    // Chromium tells of the refused query.
    expectQuiet(stage, /api\/sql|400/)
  })
})
