import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ask, called, listed, opened, tapeOf } from '../findings/stage.js'
import { picture, seriousFindings } from './looks.js'
import { holds, read } from './on-the-page.js'
import { hasBrowser, useViewer } from './stage.js'

const cli = resolve(import.meta.dirname, '../../dist/bin/wiretape.js')

const schema = { type: 'object', properties: { n: { type: 'number' } } }
const tool = { name: 'add', description: 'Adds two numbers.', outputSchema: schema }
const result = (n: unknown): object => ({ content: [], structuredContent: { n } })
const note = { type: 'note', text: 'a note has a row of its own here' }

describe.skipIf(!hasBrowser)('findings in the viewer', () => {
  const stage = useViewer()
  let bad = ''
  beforeAll(async () => {
    const lines = [...opened(), note, ...listed(tool), ...called('add', {}, result(1))]
    const wrong = called('add', { path: '../../etc/passwd' }, result('x'))
    const open = ask('tools/list')
    bad = tapeOf([...lines, ...wrong, ...open], { wiretape: { session: 'bad' } })
    stage.serve('/bad.jsonl', bad)
    const many = Array.from({ length: 120 }, (_, i) => called('add', {}, result(`${i}`)))
    stage.serve('/many.jsonl', tapeOf([...lines, ...many.flat()], { wiretape: { session: 'many' } }))
  })
  beforeEach(() => stage.requests())

  it('are asked for by the filter, by rule, pack and level', async () => {
    const page = await stage.open('/?trace=bad.jsonl')
    await read(page, 11)
    for (const [filter, wanted] of [
      ['finding:schemas/output', ['passwd']],
      ['finding:safety', ['passwd']],
      ['level:error', ['passwd']],
      ['level:note', ['passwd', 'tools/list']],
      ['finding:* level:warning', []],
    ] as const) {
      await page.fill('[data-find=filter]', filter)
      await holds(page, `document.querySelectorAll('.list .scroller .row').length === ${wanted.length}`)
      const shown = await page.locator('.list .scroller .row').allTextContents()
      for (const [i, part] of wanted.entries()) expect(shown[i]).toContain(part)
    }
    await page.fill('[data-find=filter]', 'finding:schemas/o')
    await page.locator('text=schemas/output').first().waitFor()
  })

  it('have a view: by rule, with a jump, a filter, and what is put aside as a baseline that check takes', async () => {
    const page = await stage.open('/?trace=bad.jsonl', { permissions: ['clipboard-read', 'clipboard-write'] })
    await read(page, 11)
    await page.keyboard.press('5')
    const rule = page.locator('.finding-rule', { hasText: 'schemas/output' })
    await rule.waitFor()
    expect(await page.locator('.finding-rule h2 .tag').allTextContents()).toEqual(['error', 'note', 'note'])
    expect(await page.locator('nav.views .bad-count').textContent()).toContain('1')
    await rule.locator('.finding-time').click()
    await page.locator('.detail', { hasText: 'structuredContent' }).waitFor()
    await page.locator('.row.selected .tag.level-error', { hasText: 'output' }).waitFor()

    await page.keyboard.press('5')
    await page.fill('[data-find=filter]', 'finding:safety')
    await page.locator('.finding-rule', { hasText: 'protocol/unanswered' }).waitFor({ state: 'detached' })
    expect(await page.locator('.finding-rule', { hasText: 'safety/argument' }).count()).toBe(1)
    await page.fill('[data-find=filter]', 'method:ping')
    await page.locator('text=No findings match the filter.').waitFor()
    await page.fill('[data-find=filter]', '')

    await rule.getByRole('button', { name: 'Suppress' }).click()
    await holds(page, `document.querySelectorAll('.finding-rule').length === 2`)
    expect(await page.locator('nav.views .bad-count').count()).toBe(0)
    await page.getByRole('button', { name: 'Copy as baseline' }).click()
    const folder = mkdtempSync(join(tmpdir(), 'wiretape-'))
    try {
      writeFileSync(join(folder, 'bad.jsonl'), bad)
      writeFileSync(join(folder, 'aside.json'), await page.evaluate<string>('navigator.clipboard.readText()'))
      const check = (...more: string[]): number | null =>
        spawnSync(process.execPath, [cli, 'check', 'bad.jsonl', ...more], { cwd: folder }).status
      expect([check(), check('--baseline', 'aside.json')]).toEqual([1, 0])
    } finally {
      rmSync(folder, { recursive: true })
    }
    await page.reload()
    await page.getByRole('button', { name: '1 suppressed' }).click()
    await rule.getByRole('button', { name: 'Restore' }).click()
    await page.locator('.findings-head', { hasNotText: 'suppressed' }).waitFor()
  })

  it('and costs are read on a phone, one pane at a time, and have no serious fault for axe', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await stage.open('/?trace=bad.jsonl', {
        viewport: { width: 390, height: 844 },
        colorScheme,
      })
      await read(page, 11)
      await page.locator('.views button', { hasText: 'Findings' }).click()
      await page.locator('.finding-rule').first().waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await picture(page, `findings-${colorScheme}`)
      await page.locator('.finding-rule', { hasText: 'schemas/output' }).locator('.finding-time').click()
      expect(await page.locator('.list').isVisible()).toBe(false)
      await page.getByRole('button', { name: 'Messages', exact: true }).last().click()
      expect(await page.locator('.list').isVisible()).toBe(true)
      expect(await page.locator('.detail').isVisible()).toBe(false)
      await page.locator('.views button', { hasText: 'Cost' }).click()
      await page.locator('.cost-page th', { hasText: 'add' }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
      await picture(page, `cost-${colorScheme}`)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await page.setViewportSize({ width: 1440, height: 900 })
      await picture(page, `cost-${colorScheme}`)
      await page.context().close()
    }
  })

  it('are on the rows before anybody asks, grouped by level, rule and message, and all within reach', async () => {
    const page = await stage.open('/?trace=many.jsonl')
    await page.locator('.row .tag.level-error', { hasText: 'output' }).first().waitFor()
    await page.keyboard.press('5')
    const rule = page.locator('.finding-rule', { hasText: 'schemas/output' }).first()
    await rule.waitFor()
    expect(await rule.locator('li').count()).toBe(100)
    await picture(page, 'findings-rule')
    await rule.getByRole('button', { name: /^Show 20 more of 20/ }).click()
    expect(await rule.locator('li').count()).toBe(120)
    const by = page.getByRole('group', { name: 'Group findings' })
    await by.getByRole('button', { name: 'level' }).click()
    const level = page.locator('.finding-rule.level-error')
    expect(await level.count()).toBe(1)
    await level.locator('li code', { hasText: 'schemas/output' }).first().waitFor()
    await picture(page, 'findings-level')
    await by.getByRole('button', { name: 'message' }).click()
    await page.locator('.finding-rule.level-error h2', { hasText: /schemas\/output.*120/ }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'findings-message')
    await page.locator('.finding-rule.level-error .finding-time').last().click()
    await page.locator('.row.selected').waitFor()
  })

  it('of chips add to what was typed', async () => {
    const page = await stage.open('/?trace=bad.jsonl')
    await read(page, 11)
    const field = page.locator('[data-find=filter]')
    await field.fill('passwd or initialize')
    await page.locator('.chip', { hasText: 'Tool calls' }).click()
    const says = (text: string): Promise<void> =>
      holds(page, `document.querySelector('[data-find=filter]').value === ${JSON.stringify(text)}`)
    await says('(passwd or initialize) method:tools/call')
    await holds(page, `document.querySelectorAll('.list .scroller .row').length === 1`)
    await page.locator('.chip', { hasText: 'Tool calls' }).click()
    await says('(passwd or initialize)')
  })
})
