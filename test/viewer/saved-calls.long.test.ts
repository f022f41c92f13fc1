import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Page, Route } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Actor, cli, server, viewerAddress, useStage } from '../behaviour/stage.js'
import { expectLooks } from './looks.js'
import { expectQuiet, hasBrowser, useViewer } from './stage.js'

describe.skipIf(!hasBrowser)('saved calls in the page of wiretape ui', () => {
  const stage = useViewer()
  const play = useStage()
  let mark: string
  beforeEach(() => {
    mark = play.path('started')
    mkdirSync(play.path('calls'))
    // Leaves a mark when it is started.
    const own = `import { appendFileSync } from 'node:fs'\nappendFileSync(${JSON.stringify(mark)}, 'x')\n`
    writeFileSync(
      play.path('marks.mjs'),
      `${own}await import(${JSON.stringify(server('mini-mcp.mjs')[1])})\n`,
    )
  })

  async function ui(): Promise<{ actor: Actor; page: Page }> {
    const env = { ...play.env, KETTLE_TOKEN: 'kettle-token-8f2c5d1e' }
    const actor = play.start([process.execPath, cli, 'ui', '--no-open'], { env })
    const page = await stage.open(await viewerAddress(actor))
    await page.locator('.act-saved').waitFor()
    return { actor, page }
  }

  async function end(page: Page, actor: Actor): Promise<void> {
    await page.context().close()
    actor.child.kill('SIGTERM')
    await actor.ended
  }

  /** A file of calls; each line of `calls` is a name and a request. */
  function file(name: string, ...lines: string[]): void {
    const command = JSON.stringify([process.execPath, play.path('marks.mjs')])
    const head = [`server: { command: ${command}, env: { SHOP: open, SHOP_TOKEN: "\${env:KETTLE_TOKEN}" } }`]
    writeFileSync(play.path(`calls/${name}`), `${[...head, ...lines].join('\n')}\n`)
  }

  it('starts nothing before the whole command was shown and confirmed, once per command and page', async () => {
    file('shop.yaml', 'calls:', '  - { name: pings, request: { method: ping } }')
    const { actor, page } = await ui()
    const saved = page.locator('.act-saved')
    const box = page.locator('.act-box')
    await saved.getByRole('button', { name: 'Run pings' }).click()
    await box.getByText('somebody else may have written it').waitFor()
    expect(await box.locator('pre').textContent()).toBe(`${process.execPath} ${play.path('marks.mjs')}`)
    const shown = (await box.textContent())!
    expect(shown).toContain('SHOP=open')
    expect(shown).toContain('SHOP_TOKEN=')
    expect(shown).not.toContain('kettle-token')
    await expectLooks(page, 'saved-confirm')
    await page.setViewportSize({ width: 1440, height: 900 })
    await box.getByRole('button', { name: 'Close' }).click()
    expect(existsSync(mark)).toBe(false)

    // The page's server refuses the call, regardless of the page.
    const answers = (await page.evaluate(`(async () => {
      const headers = {
        authorization: 'Bearer ' + sessionStorage.getItem('wiretape-token'),
        'x-wiretape-act': '1', 'content-type': 'application/json',
      }
      const ask = async (body) =>
        (await fetch('./api/saved', { method: 'POST', headers, body: JSON.stringify(body) })).json()
      const run = { type: 'run', file: 'calls/shop.yaml' }
      return [await ask(run), await ask({ ...run, codes: ['made-up', ''] })]
    })()`)) as { ask?: unknown[]; exchanges?: unknown }[]
    for (const { ask, exchanges } of answers) {
      expect(ask).toHaveLength(1)
      expect(exchanges).toBeUndefined()
    }
    expect(existsSync(mark)).toBe(false)

    await saved.getByRole('button', { name: 'Run all' }).click()
    await box.getByRole('button', { name: 'Start and run' }).click()
    await saved.getByText('as expected').waitFor()
    expect(readFileSync(mark, 'utf8')).toBe('x')
    await saved.getByRole('button', { name: 'Run pings' }).click()
    await expect.poll(() => readFileSync(mark, 'utf8'), { timeout: 30_000 }).toBe('xx')

    // Another command in the file is another question, although the page has not loaded the file again.
    const path = play.path('calls/shop.yaml')
    writeFileSync(path, readFileSync(path, 'utf8').replace('SHOP: open', 'SHOP: closed'))
    await saved.getByRole('button', { name: 'Run pings' }).click()
    await box.getByText('SHOP=closed').waitFor()
    // By now this machine has a recording of the command.
    expect(await box.getByText('somebody else may have written it').count()).toBe(0)
    await box.getByRole('button', { name: 'Close' }).click()
    expect(readFileSync(mark, 'utf8')).toBe('xx')
    writeFileSync(path, readFileSync(path, 'utf8').replace('SHOP: closed', 'SHOP: open'))
    await page.reload()
    await saved.getByRole('button', { name: 'Run pings' }).click()
    await box.getByRole('button', { name: 'Start and run' }).waitFor()
    expect(readFileSync(mark, 'utf8')).toBe('xx')
    expectQuiet(stage)
    await end(page, actor)
  })

  it('takes variables from the page, and shows a broken file in one line beside the others', async () => {
    const call = '  - { name: finds, request: { method: ping, params: { for: "${query}", key: "${key}" } } }'
    file('find.yaml', 'variables:', '  query: tea', '  key: "${env:KETTLE_TOKEN}"', 'calls:', call)
    file('needs.yaml', 'calls:', '  - { name: needs, request: { method: ping, params: { n: "${number}" } } }')
    file('wrong.yaml', 'calls:', '  - { name: lost, reqest: {} }')
    const { actor, page } = await ui()
    const saved = page.locator('.act-saved')
    await saved.getByText('calls/wrong.yaml, line 3: ').waitFor()
    await saved.getByText('calls/needs.yaml, line 3: unknown variable number').waitFor()
    expect(await saved.getByLabel('query').getAttribute('placeholder')).toBe('tea')
    expect(await saved.getByLabel('key').getAttribute('placeholder')).toBe('from the environment')
    await expectLooks(page, 'saved-variables')
    await page.setViewportSize({ width: 1440, height: 900 })

    // A slow list replaces neither newly typed text nor the list for a later value.
    const late: Route[] = []
    await page.route('**/api/saved', (route) =>
      late.length === 0 && route.request().method() === 'POST' ? void late.push(route) : route.continue(),
    )
    await saved.getByLabel('query').fill('a teapot')
    await saved.getByLabel('number').focus()
    await expect.poll(() => late.length, { timeout: 30_000 }).toBe(1)
    await page.keyboard.insertText('7')
    await page.keyboard.press('Enter')
    await saved.getByText('unknown variable number').waitFor({ state: 'detached' })
    await page.keyboard.press('End')
    await page.keyboard.insertText('3')
    const answered = page.waitForResponse('**/api/saved')
    await late[0]!.continue()
    await (await answered).finished()
    await page.evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
    expect(await saved.getByLabel('number').inputValue()).toBe('73')
    expect(await saved.getByText('unknown variable number').count()).toBe(0)
    await page.unroute('**/api/saved')

    await saved.getByLabel('number').fill('5')
    await saved.getByLabel('number').press('Enter')
    await saved.getByText('unknown variable number').waitFor({ state: 'detached' })
    await saved.getByRole('button', { name: 'Run all' }).click()
    await page.locator('.act-box').getByRole('button', { name: 'Start and run' }).click()
    await saved.getByText('as expected').nth(1).waitFor()
    const found = play.start([process.execPath, cli, 'search', 'samovar', '--json'])
    expect((await found.ended).exitCode).toBe(0)
    expectQuiet(stage)
    await end(page, actor)
  })
})
