import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { everythingScript } from '../clients/everything.js'
import { cli, viewerAddress, useStage } from '../behaviour/stage.js'
import { picture, seriousFindings } from './looks.js'
import { holds, read, rows } from './on-the-page.js'
import { expectQuiet, hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

const everything = [process.execPath, everythingScript]

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

/** Tap targets lower than a thumb. Separators of columns do not count: they are for the mouse and for keys. */
const lowTargets = `[...document.querySelectorAll('button, a[href], select, summary, input, [role=menuitem], [role=option]')]
  .map((one) => one.closest('label') ?? one)
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && one.closest('pre, [inert]') === null)
  .filter((one) => one.localName !== 'a' || one.closest('p') === null)
  .map((one) => [one.getBoundingClientRect().height, one.outerHTML.slice(0, 160)])
  .filter(([height, html]) => height > 1 && height < (html.includes('bare twist') ? 24 : 43.5))
  .map(([height, html]) => height + ' ' + html)`

describe.skipIf(!hasBrowser)('the page on a phone', () => {
  const stage = useViewer()
  const play = useStage()
  const faults: string[] = []
  beforeEach(() => {
    faults.length = 0
  })

  function tape(label: string, last: string): string {
    const calls = ['echo', 'my tool', 'weigh'].flatMap((name, id) => {
      const params = `{"name":"${name}","arguments":{"q":"${id}"}}`
      const call = messageLine('in', `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`)
      const { id: corr } = JSON.parse(call) as { id: string }
      const text = id === 2 ? last : 'x'.repeat(100 * (3 - id))
      const content = JSON.stringify([{ type: 'text', text }])
      return [
        call,
        messageLine('out', `{"jsonrpc":"2.0","id":${id},"result":{"content":${content}}}`, { corr }),
      ]
    })
    return tapeOf(calls, label)
  }

  async function looks(page: Page, name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await seriousFindings(page)).toEqual([])
      await picture(page, `phone-${name}-${colorScheme}`)
    }
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    const low = await page.evaluate<string[]>(lowTargets)
    faults.push(...low.map((target) => `${name}: ${target}`), ...(width === 390 ? [] : [`${name}: ${width}`]))
  }

  it('sorts, chooses columns, highlights and opens the menu of a row by thumb', async () => {
    stage.serve('/calls.jsonl', tape('calls', 'three'))
    const page = await stage.open('/?trace=calls.jsonl', phone)
    await read(page, 6)
    await looks(page, 'list')
    await page.getByRole('button', { name: 'View', exact: true }).tap()
    await page.getByLabel('Sort by').selectOption('size')
    await holds(page, `location.hash.includes('order=size')`)
    expect((await rows(page))[0]).toContain('echo')
    await page.getByRole('button', { name: 'Descending' }).tap()
    await holds(page, `document.querySelector('.row[aria-rowindex="1"]').textContent.includes('weigh')`)
    await page.getByLabel('Highlight', { exact: true }).fill('tool:echo')
    await page.locator('.row.highlighted').waitFor()
    await looks(page, 'view')
    expect(await page.locator('.scroller .cell.time').first().isVisible()).toBe(true)
    await page.getByLabel('time', { exact: true }).tap()
    await holds(page, `location.hash.includes('hide=time')`)
    expect(await page.locator('.scroller .cell.time').first().isVisible()).toBe(false)
    await page.getByRole('button', { name: 'View', exact: true }).tap()
    await page
      .locator('.row', { hasText: 'my tool' })
      .getByRole('button', { name: /^Actions for/ })
      .tap()
    await page.getByRole('menu').waitFor()
    await looks(page, 'menu')
    await page.getByRole('menuitem', { name: 'Only my tool' }).tap()
    await holds(page, `document.querySelectorAll('.list .scroller .row').length === 1`)
    // The list is still there; a tap on the row leaves it.
    await page.locator('.row', { hasText: 'my tool' }).tap()
    await page.locator('.detail').waitFor()
    await looks(page, 'detail')
    // The diagram shows the selected row; a tap on an arrow leads to its message and back.
    await page.locator('.views').getByRole('button', { name: 'Sequence' }).tap()
    await page.locator('.arrow-row.selected', { hasText: 'tools/call my tool' }).waitFor()
    expect(await page.locator('.detail').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Clear' }).tap()
    await holds(page, `document.querySelectorAll('.arrow-row').length === 6`)
    const only = page.getByRole('button', { name: 'Only this exchange' })
    // It covers no arrow.
    const arrows = (await page.locator('.sequence .scroller').boundingBox())!
    expect((await only.boundingBox())!.y).toBeGreaterThanOrEqual(arrows.y + arrows.height)
    await only.tap()
    await holds(page, `document.querySelectorAll('.arrow-row').length === 2`)
    await looks(page, 'sequence-chosen')
    const arrow = page.locator('.arrow-row.kind-result')
    expect((await arrow.boundingBox())!.height).toBe(44)
    await arrow.tap()
    await page.locator('.detail', { hasText: 'my tool' }).waitFor()
    await page.locator('.detail').getByRole('button', { name: 'Sequence' }).tap()
    await holds(page, `document.querySelectorAll('.arrow-row').length === 6`)
    for (const view of ['Tools', 'Findings', 'Cost']) {
      await page.locator('.views').getByRole('button', { name: view }).tap()
      await holds(page, `!document.querySelector('.message.loading')`)
      await looks(page, view.toLowerCase())
    }
    expect(faults).toEqual([])
    expectQuiet(stage)
    await page.context().close()
  })

  it('shows home, and compares two recordings, by thumb', async () => {
    const folder = join(play.env['XDG_DATA_HOME']!, 'wiretape/recordings')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'before.jsonl'), tape('before', 'three'))
    writeFileSync(join(folder, 'after.jsonl'), tape('after', 'three and more'))
    const actor = play.start([process.execPath, cli, 'ui', '--no-open'])
    const page = await stage.open(await viewerAddress(actor), phone)
    await page.locator('.recording', { hasText: 'before' }).waitFor()
    await looks(page, 'home')
    await page.getByLabel('Select before').tap()
    await page.getByLabel('Select after').tap()
    await page.getByRole('button', { name: 'Compare' }).tap()
    await page.locator('.compare, .page', { hasText: 'weigh' }).first().waitFor()
    await looks(page, 'compare')
    expect(faults).toEqual([])
    expectQuiet(stage)
    await page.context().close()
    actor.child.kill('SIGTERM')
    await actor.ended
  })

  it('connects to a server and uses its workbench by thumb', async () => {
    await play.start([process.execPath, cli, 'call', 'echo', '{"message":"hi"}', '--', ...everything]).ended
    const actor = play.start([process.execPath, cli, 'ui', '--no-open'])
    const page = await stage.open(await viewerAddress(actor), phone)
    await page.getByRole('button', { name: /^Connect to the server of/ }).tap()
    const box = page.locator('.act-box')
    await box.getByRole('button', { name: 'Start and connect' }).waitFor()
    await looks(page, 'connect')
    await box.getByRole('button', { name: 'Start and connect' }).tap()
    const bench = page.locator('.act-bench')
    const press = (name: string | RegExp): Promise<void> =>
      bench
        .getByRole('button', typeof name === 'string' ? { name, exact: true } : { name })
        .first()
        .tap()
    const tool = bench.getByLabel('Tool', { exact: true })
    await tool.selectOption('echo')
    await bench.getByLabel('message (required)').fill('by thumb')
    await press('Call')
    await bench.locator('.act-answers', { hasText: 'Echo: by thumb' }).waitFor()
    await looks(page, 'bench-answer')
    await press('Edit as JSON')
    await bench.locator('.cm-content').waitFor()
    await looks(page, 'bench-json')
    for (const [name, action] of [
      ['trigger-elicitation-request', 'Decline'],
      ['trigger-sampling-request', 'Reject'],
    ] as const) {
      await tool.selectOption(name)
      const prompt = bench.getByLabel('prompt (required)')
      if ((await prompt.count()) > 0) await prompt.fill('a kettle')
      await press('Call')
      await bench.locator('.act-asked').waitFor()
      await looks(page, name)
      await bench.locator('.act-asked').getByRole('button', { name: action, exact: true }).tap()
      await bench.locator('.act-asked').waitFor({ state: 'detached' })
    }
    for (const [tab, part] of [
      ['Prompts', 'Get the prompt'],
      ['Resources', 'Read'],
      [/^Notifications/, undefined],
      ['Roots', 'Set'],
    ] as const) {
      await press(tab)
      if (part !== undefined) await bench.getByRole('button', { name: part, exact: true }).waitFor()
      await looks(page, `bench-${(part ?? 'notifications').toLowerCase()}`)
    }
    await bench.getByRole('button', { name: 'Close', exact: true }).tap()
    await bench.waitFor({ state: 'detached' })
    await looks(page, 'beside-bench')
    await page.getByRole('button', { name: /^Take control/ }).tap()
    await page.getByRole('button', { name: 'Hold', exact: true }).tap()
    await page.getByRole('button', { name: 'Stop holding' }).waitFor()
    await page.getByRole('button', { name: /^Workbench/ }).tap()
    await press('Tools')
    // The list of tools is kept; where it is requested again, the request is held, too.
    await press('Refresh')
    await bench.locator('.act-queue li', { hasText: 'tools/list' }).waitFor()
    await looks(page, 'bench-held')
    await bench.locator('.act-queue').getByRole('button', { name: 'Edit' }).first().tap()
    await box.locator('.cm-content').waitFor()
    await looks(page, 'bench-edit')
    await box.getByRole('button', { name: 'Close' }).tap()
    await bench.locator('.act-queue').getByRole('button', { name: 'Drop' }).first().tap()
    await bench.locator('.act-queue').waitFor({ state: 'detached' })
    await press('End session')
    await bench.waitFor({ state: 'detached' })
    // The dropped request gets no response; wiretape exits nevertheless.
    expect(faults).toEqual([])
    expectQuiet(stage)
    await page.context().close()
    actor.child.kill('SIGTERM')
    await actor.ended
  })
})
