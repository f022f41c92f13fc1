import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Actor, cli, server, viewerAddress, useStage, recordingsOf } from '../behaviour/stage.js'
import { expectLooks, picture, seriousFindings } from './looks.js'
import { holds, read } from './on-the-page.js'
import { expectQuiet, hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

describe.skipIf(!hasBrowser)('the home page of wiretape ui', () => {
  const stage = useViewer()
  const play = useStage()
  const recordings = (): string => recordingsOf(play)
  beforeEach(() => void recordings())

  async function ui(): Promise<{ actor: Actor; url: string }> {
    const actor = play.start([process.execPath, cli, 'ui', '--no-open'])
    return { actor, url: await viewerAddress(actor) }
  }

  function tape(label: string, text: string, said = text): void {
    const call = (id: number, message: string): string =>
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"message":"${message}"}}}`
    const answer = (id: number, message: string): string =>
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${message}"}]}}`
    const pair = (id: number, message: string, response: string): string[] => {
      const request = messageLine('in', call(id, message))
      const { id: corr } = JSON.parse(request) as { id: string }
      return [request, messageLine('out', answer(id, response), { corr })]
    }
    const lines = [...pair(1, 'first', 'first'), ...pair(2, text, said)]
    writeFileSync(join(recordings(), `${label}.jsonl`), tapeOf(lines, label))
  }

  async function leave(page: Page, actor: Actor): Promise<void> {
    await page.context().close()
    actor.child.kill('SIGINT')
    await actor.ended
  }

  it('finds a message in any recording, compares two, deletes one, and is where the brand leads', async () => {
    tape('before', 'the kettle')
    tape('after', 'the <b>teapot</b>')
    const { actor, url } = await ui()
    const page = await stage.open(url)
    await page.locator('.recording', { hasText: 'before' }).waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await seriousFindings(page)).toEqual([])
      await picture(page, `home-${colorScheme}`)
    }
    const field = page.getByRole('searchbox', { name: 'Search all recordings' })
    // A name narrows the list while it is typed.
    await field.fill('aft')
    await holds(page, `document.querySelectorAll('.recording').length === 1`)
    await field.fill('teapot')
    await field.press('Enter')
    const match = page.locator('.home-found a', { hasText: 'after' })
    await match.first().waitFor()
    expect(await page.locator('.home-found mark').first().textContent()).toBe('teapot')
    expect(await page.locator('.home-found a').count()).toBe(2)
    await picture(page, 'home-found')
    await match.nth(1).click()
    await read(page, 4)
    await page.locator('.row[aria-selected="true"]').waitFor()
    expect(await page.locator('.detail').textContent()).toContain('teapot')
    await field.waitFor({ state: 'detached' })
    // Nothing proves that this machine made the recording.
    await page.locator('.row', { hasText: 'tools/call' }).first().click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Save the call…' }).click()
    await page.locator('.act-box', { hasText: 'cannot verify' }).waitFor()
    expect(await page.getByRole('button', { name: 'Save the call' }).count()).toBe(0)
    await picture(page, 'save-unproven')
    await page.locator('.act-box').getByRole('button', { name: 'Close' }).click()
    await page.locator('.brand a').click()
    await page.locator('.recording', { hasText: 'after' }).waitFor()
    // An invalid filter is explained in words.
    await field.fill('size:many')
    await field.press('Enter')
    await page.locator('.home .failure').waitFor()
    await field.fill('Echo: "the')
    await field.press('Enter')
    await page.locator('.home .failure', { hasText: 'put text with a colon in quotes' }).waitFor()
    await picture(page, 'home-unknown-key')
    await page.getByRole('button', { name: 'Search for this text' }).click()
    await page.getByText('0 matches for').waitFor()
    expect(await field.inputValue()).toBe(String.raw`"Echo: \"the"`)
    await field.fill('')

    const compare = page.getByRole('button', { name: 'Compare' })
    expect(await compare.isDisabled()).toBe(true)
    await page.getByRole('checkbox', { name: 'Select before' }).check()
    await page.getByRole('checkbox', { name: 'Select after' }).check()
    await compare.click()
    await page.locator('.compare, .page', { hasText: 'echo' }).first().waitFor()
    expect(page.url()).toContain('view=compare')
    await page.locator('.brand a').click()

    await page.getByRole('button', { name: 'Delete before' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Delete before' }).click()
    await page.getByRole('button', { name: 'Delete permanently' }).click()
    await page.locator('.recording', { hasText: 'before' }).waitFor({ state: 'detached' })
    expect(readdirSync(recordings())).toEqual(['after.jsonl'])
    expect(stage.complaints.splice(0).filter((line) => !line.includes('400'))).toEqual([])
    await leave(page, actor)
  })

  it('deletes several recordings after one confirmation, live ones not, and closes a recording from its own page', async () => {
    for (const label of ['one', 'two', 'stays']) tape(label, 'the kettle')
    const command = [process.execPath, cli, 'record', '--label', 'lives', '--']
    const recorder = play.start([...command, ...server('echo-lines.mjs')])
    const { actor, url } = await ui()
    const page = await stage.open(url)
    const select = (label: string): Promise<void> =>
      page.getByRole('checkbox', { name: `Select ${label}` }).check()
    const several = page.getByRole('button', { name: 'Delete selected' })
    await page.locator('.recording.is-live', { hasText: 'lives' }).waitFor()
    expect(await several.isDisabled()).toBe(true)
    await select('lives')
    await several.click()
    const asked = page.getByRole('group', { name: 'Delete the selected recordings?' })
    await asked
      .getByText('No selected recording can be deleted. Live recordings are not deleted: lives.')
      .waitFor()
    expect(await asked.getByRole('button').allTextContents()).toEqual(['Cancel'])
    await select('one')
    await select('two')
    await asked
      .getByText(/^Delete 2 recordings \([\d.]+ kB\) permanently: \w+, \w+\? Live recordings/)
      .waitFor()
    await expectLooks(page, 'home-delete')
    await page.setViewportSize({ width: 1440, height: 900 })
    await asked.getByRole('button', { name: 'Cancel' }).click()
    await asked.waitFor({ state: 'detached' })
    expect(readdirSync(recordings())).toHaveLength(4)
    await several.click()
    await asked.getByRole('button', { name: 'Delete 2 recordings' }).click()
    await page.locator('.notice', { hasText: 'Deleted 2 recordings.' }).waitFor()
    await page.locator('.recording', { hasText: 'one' }).waitFor({ state: 'detached' })
    expect(await page.locator('.recording').count()).toBe(2)
    const left = readdirSync(recordings())
    expect(left).toHaveLength(2)
    expect(left).toContain('stays.jsonl')

    await page.locator('.recording', { hasText: 'stays' }).click()
    await read(page, 4)
    for (const width of [390, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await picture(page, 'home-close')
      expect(await seriousFindings(page)).toEqual([])
      expect(await page.getByRole('link', { name: 'Close' }).isVisible()).toBe(true)
    }
    await page.getByRole('link', { name: 'Close' }).click()
    await page.locator('.recording', { hasText: 'stays' }).waitFor()
    expect(await page.getByRole('link', { name: 'Close' }).count()).toBe(0)
    expectQuiet(stage)
    await leave(page, actor)
    recorder.child.stdin!.end()
    await recorder.ended
  })

  it('looks right at home and when two recordings are compared, at every width and in every light', async () => {
    tape('before', 'the kettle')
    const long = 'a rather long name of a recording that somebody made'
    tape(long, 'the kettle', 'the <b>teapot</b> is warm')
    writeFileSync(
      join(recordings(), 'cut.jsonl'),
      readFileSync(join(recordings(), 'before.jsonl'), 'utf8')
        .replace('before', 'cut')
        .split('\n')
        .slice(0, 3)
        .join('\n'),
    )
    mkdirSync(play.path('calls'))
    writeFileSync(
      play.path('calls/kettle.yaml'),
      'server: { command: [node, kettle.mjs] }\nvariables: { water: cold }\ncalls:\n  - name: boils\n    request: { tool: boil }\n',
    )
    const { actor, url } = await ui()
    const page = await stage.open(url)
    const looks = async (name: string): Promise<void> => {
      for (const width of [1440, 1024, 390])
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 900 })
          await page.emulateMedia({ colorScheme })
          const at = `${name} at ${width}, ${colorScheme}`
          expect([at, ...(await seriousFindings(page))]).toEqual([at])
          expect([at, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([at, width])
          await picture(page, `home-${name}-${colorScheme}`)
        }
      await page.setViewportSize({ width: 1440, height: 900 })
    }
    await page.getByRole('button', { name: 'Run boils' }).waitFor()
    await page.locator('.recording').nth(2).waitFor()
    await looks('list')
    const field = page.getByRole('searchbox', { name: 'Search all recordings' })
    await field.fill('tea')
    await field.press('Enter')
    await page.locator('.home-found mark').first().waitFor()
    await looks('search')
    await field.fill('')
    await page.getByRole('button', { name: 'Delete before' }).click()
    await page.getByRole('button', { name: 'Delete permanently' }).waitFor()
    await looks('delete')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('checkbox', { name: 'Select before' }).check()
    await page.getByRole('checkbox', { name: /^Select a rather long/ }).check()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.locator('.comparison-head').first().waitFor()
    await looks('compared')
    await page.locator('.comparison-head', { hasText: '1 difference' }).click()
    await page.locator('.differences').first().waitFor()
    await looks('compared-open')
    expectQuiet(stage)
    await leave(page, actor)
  })

  it('shows somebody who has no recording how to make one, a sample, and the saved calls of the folder', async () => {
    mkdirSync(play.path('calls'))
    writeFileSync(
      play.path('calls/kettle.yaml'),
      'server: { command: [node, kettle.mjs] }\ncalls:\n  - name: boils\n    request: { tool: boil }\n',
    )
    const { actor, url } = await ui()
    const page = await stage.open(url, { viewport: { width: 390, height: 844 } })
    await page.locator('.home', { hasText: 'wiretape install --all' }).waitFor()
    await page.getByRole('button', { name: 'Run boils' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'home-empty-phone')
    await page.getByRole('button', { name: 'Open a sample recording' }).click()
    await holds(page, `document.querySelectorAll('.list .row').length > 5`)
    await page.reload()
    await holds(page, `document.querySelectorAll('.list .row').length > 5`)
    expectQuiet(stage)
    await leave(page, actor)
  })

  it('says that a capture waits, with what its client needs, and shows the first message', async () => {
    const recorder = play.start([
      process.execPath,
      cli,
      'record',
      '--label',
      'waits',
      '--',
      ...server('echo-lines.mjs'),
    ])
    const { actor, url } = await ui()
    const page = await stage.open(url)
    const row = page.locator('.recording.is-live', { hasText: 'waits' })
    await row.waitFor()
    // A live recording cannot be deleted.
    expect(await page.getByRole('button', { name: 'Delete waits' }).count()).toBe(0)
    await row.click()
    await page.locator('.list .empty', { hasText: 'Waiting for the first message' }).waitFor()
    const configuration = JSON.parse((await page.locator('.list .empty pre').textContent())!) as {
      mcpServers: Record<string, { args: string[] }>
    }
    expect(configuration.mcpServers['waits']!.args.slice(0, 4).join(' ')).toBe('record --label waits --')
    await picture(page, 'home-waiting')
    await recorder.send('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    await read(page, 2)
    expectQuiet(stage)
    await leave(page, actor)
    recorder.child.stdin!.end()
    await recorder.ended
  })

  it('deletes for nobody but its own page', async () => {
    tape('kept', 'x')
    const { actor, url } = await ui()
    const page = await stage.open(url)
    await page.locator('.recording', { hasText: 'kept' }).waitFor()
    const statuses = await page.evaluate(`(async () => {
      const token = sessionStorage.getItem('wiretape-token')
      const authorization = 'Bearer ' + token
      const [{ id }] = await (await fetch('./api/recordings', { headers: { authorization } })).json()
      const whole = { authorization, 'x-wiretape-act': '1', 'content-type': 'application/json' }
      const ask = async (headers, method = 'POST', name = id) =>
        (await fetch('./api/recordings/' + name + '/delete', { method, headers, ...(method === 'POST' && { body: '{}' }) })).status
      const { authorization: _, ...noToken } = whole
      const { 'x-wiretape-act': __, ...noHeader } = whole
      return [
        await ask(noToken), await ask(noHeader), await ask({ ...whole, 'content-type': 'text/plain' }),
        await ask(whole, 'GET'), await ask(whole, 'POST', 'no-such-recording'), await ask(whole, 'POST', 'sample'),
      ]
    })()`)
    expect(statuses).toEqual([403, 403, 415, 405, 409, 409])
    expect(existsSync(join(recordings(), 'kept.jsonl'))).toBe(true)
    stage.complaints.length = 0
    await leave(page, actor)
  })
})
