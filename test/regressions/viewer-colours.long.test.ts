import { beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { holds, read } from '../viewer/on-the-page.js'
import { expectQuiet, hasBrowser, useViewer } from '../viewer/stage.js'
import { messageLine, tapeOf } from '../viewer/tapes.js'

const idOf = (line: string): string => (JSON.parse(line) as { id: string }).id
const calls = 1_500
/** Every eleventh call gets no answer. */
const messages = calls * 2 - Math.ceil(calls / 11)

/** Calls that succeed, fail, fail in the tool and get no answer, in an irregular order. */
function mixedTape(): string {
  const lines: string[] = []
  for (let i = 0; i < calls; i += 1) {
    const asked = messageLine(
      'in',
      JSON.stringify({
        jsonrpc: '2.0',
        id: i,
        method: 'tools/call',
        params: { name: `tool-${i}`, arguments: {} },
      }),
    )
    lines.push(asked)
    const how = (i * 7919) % 11
    if (how === 0) continue
    const answer =
      how < 3
        ? { error: { code: -32000 - how, message: 'broken' } }
        : { result: { content: [], ...(how === 3 && { isError: true }) } }
    lines.push(
      messageLine('out', JSON.stringify({ jsonrpc: '2.0', id: i, ...answer }), { corr: idOf(asked) }),
    )
  }
  return tapeOf(lines, 'mixed')
}

/** Cells whose colour is not the one of a fresh copy of their row, in rows that are in the page now. */
function wrongCells(page: Page, row: string): Promise<string[]> {
  return page.evaluate(`(() => {
    const wrong = []
    for (const row of document.querySelectorAll('${row}')) {
      const fresh = row.cloneNode(true)
      fresh.removeAttribute('id')
      row.parentElement.append(fresh)
      const [cells, copies] = [row, fresh].map((one) => [one, ...one.querySelectorAll('*')])
      cells.forEach((cell, i) => {
        const [is, should] = [cell, copies[i]].map((one) => getComputedStyle(one))
        for (const name of ['color', 'backgroundColor', 'stroke', 'textDecorationLine']) {
          // The copy is not under the pointer.
          if (name === 'backgroundColor' && row.matches(':hover')) continue
          if (is[name] !== should[name]) wrong.push(row.className + ' ' + cell.className + ': ' + name + ' ' + is[name] + ' for ' + should[name])
        }
      })
      fresh.remove()
    }
    return wrong
  })()`)
}

describe.skipIf(!hasBrowser)('the rows of the viewer', () => {
  const stage = useViewer()
  beforeAll(async () => {
    stage.serve('/m.jsonl', mixedTape())
  })

  for (const scheme of ['light', 'dark'] as const) {
    it(`have the colours of what they show after scrolling and jumping (${scheme})`, async () => {
      const page = await stage.open('/?trace=m.jsonl', { colorScheme: scheme })
      await read(page, messages)
      const wrong: string[] = []
      const look = async (row: string): Promise<void> => {
        await page.evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
        wrong.push(...(await wrongCells(page, row)))
      }
      const list = '.list .scroller .row'
      await page.locator('.list .scroller').hover()
      for (const by of [90, 300, 1_000, 26, 5_000, -700, 52, -90, 12_000]) {
        await page.mouse.wheel(0, by)
        await look(list)
      }
      for (const key of ['n', 'n', 'n', 'N', 'G', 'k', 'N', 'PageUp', 'g', 'n', 'PageDown', 'n', 'G']) {
        await page.keyboard.press(key)
        await look(list)
      }
      await page.keyboard.press('2')
      await page.locator('.arrow-row').first().waitFor()
      await page.locator('.sequence .scroller').hover()
      for (const by of [90, 1_000, -300, 20_000]) {
        await page.mouse.wheel(0, by)
        await look('.arrow-row')
      }
      expect(wrong).toEqual([])
      expectQuiet(stage)
      await page.context().close()
    })
  }

  it('selects the last row with G or End when nothing is chosen, and the first with g', async () => {
    const page = await stage.open('/?trace=m.jsonl')
    await read(page, messages)
    for (const [key, tool] of [
      ['G', `tool-${calls - 1}`],
      ['End', `tool-${calls - 1}`],
      ['g', 'tool-0'],
      ['j', 'tool-0'],
    ] as const) {
      await page.keyboard.press('Escape')
      await holds(page, `!document.querySelector('.row.selected')`)
      await page.keyboard.press(key)
      await page.locator('.row.selected', { hasText: tool }).waitFor()
    }
  })
})
