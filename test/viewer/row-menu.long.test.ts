import { beforeAll, describe, expect, it } from 'vitest'
import { picture, seriousFindings } from './looks.js'
import { holds, read, rows } from './on-the-page.js'
import { hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

describe.skipIf(!hasBrowser)('the menu of a row', () => {
  const stage = useViewer()
  beforeAll(async () => {
    const lines = ['echo', 'my tool', 'echo'].flatMap((name, id) => {
      const params = `{"name":"${name}","arguments":{"q":"${id}"}}`
      const call = messageLine('in', `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`)
      const { id: corr } = JSON.parse(call) as { id: string }
      return [call, messageLine('out', `{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`, { corr })]
    })
    stage.serve('/calls.jsonl', tapeOf(lines))
  })

  it('filters, shows the story and copies, by mouse and by keyboard', async () => {
    const page = await stage.open('/?trace=calls.jsonl', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await read(page, 6)
    // Before a message is chosen there is room for the waterfall: each bar begins where the one before ended, or later.
    const bars = await page.evaluate<
      [number, number][]
    >(`[...document.querySelectorAll('.list .scroller .row')]
      .sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex'))
      .map((row) => row.querySelector('.waterfall i').getBoundingClientRect())
      .map(({ left, right }) => [Math.round(left), Math.round(right)])`)
    await picture(page, 'waterfall')
    expect(bars).toHaveLength(3)
    for (const [i, [left, right]] of bars.entries()) {
      expect(right).toBeGreaterThan(left)
      if (i > 0) expect(left).toBeGreaterThanOrEqual(bars[i - 1]![1] - 1)
    }
    await picture(page, 'waterfall')
    // The content is in a column of its own, which sorts, and which the address names when it is hidden.
    const contents = (): Promise<string[]> => page.locator('.scroller .cell.content').allTextContents()
    await holds(page, `document.querySelector('.scroller .cell.content').textContent.startsWith('q: "')`)
    await page.click('.row.head .sort:text("content")')
    await holds(page, `location.hash.includes('order=content')`)
    expect((await contents()).map((text) => text.slice(0, 6))).toEqual(['q: "0"', 'q: "1"', 'q: "2"'])
    await page.click('.row.head .sort:text("content")')
    await holds(
      page,
      `document.querySelector('.row[aria-rowindex="1"] .content').textContent.startsWith('q: "2"')`,
    )
    await page.click('[aria-label="Choose columns"]')
    await page.click('.columns-menu label:has-text("content")')
    await page.keyboard.press('Escape')
    await holds(
      page,
      `location.hash.includes('order=content.down') && location.hash.includes('hide=content')`,
    )
    const linked = await stage.open(page.url())
    await read(linked, 6)
    await holds(linked, `document.querySelector('.row[aria-rowindex="1"] .id').textContent === '2'`)
    expect(await linked.locator('.row.head .cell.content').isVisible()).toBe(false)
    await linked.context().close()
    await page.click('[aria-label="Choose columns"]')
    await page.click('.columns-menu .menu-list button')
    await page.keyboard.press('Escape')
    await page.click('.row.head .sort:text("time")')
    await page.click('.row.head .sort:text("time")')
    await holds(page, `!location.hash.includes('order')`)
    const menu = page.getByRole('menu')
    await page.locator('.row', { hasText: 'my tool' }).click({ button: 'right' })
    await menu.waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'row-menu')
    await menu.getByRole('menuitem', { name: 'Show only my tool' }).click()
    await holds(page, `document.querySelectorAll('.list .scroller .row').length === 1`)
    expect(await rows(page)).toEqual(['tools/call my tool ok'])
    await page.locator('.row', { hasText: 'my tool' }).click({ button: 'right' })
    await menu.getByRole('menuitem', { name: 'Show story' }).click()
    await page.locator('.story').first().waitFor()
    // Without a click: the chosen row's menu, arrows, Escape.
    await page.locator('.list .scroller').focus()
    await page.keyboard.press('Shift+F10')
    await menu.waitFor()
    await page.keyboard.press('End')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Copy as Markdown')
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Show story')
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'detached' })
    expect(await page.evaluate(`document.activeElement.classList.contains('scroller')`)).toBe(true)
    await page.locator('.row', { hasText: 'my tool' }).click({ button: 'right' })
    await menu.getByRole('menuitem', { name: 'Copy as wiretape call' }).click()
    await holds(page, `navigator.clipboard.readText().then((text) => text.startsWith('wiretape call'))`)
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `wiretape call 'my tool' '{"q":"1"}' -- node server.js`,
    )
    // A click elsewhere closes the menu, and has its usual effect.
    await page.locator('.row', { hasText: 'my tool' }).click({ button: 'right' })
    await page.getByRole('button', { name: 'Clear' }).click()
    await menu.waitFor({ state: 'detached' })
    await holds(page, `document.querySelectorAll('.list .scroller .row').length === 3`)
  })
})
