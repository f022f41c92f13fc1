// @ts-check
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { recordCall } from './record.mjs'

/** @param {import('../screens.mjs').Scene} scene */
export async function readingScreens(scene) {
  const { open, shoot, folder } = scene
  const page = await open('/?open=sample')
  const row = (/** @type {string} */ text) => page.locator('.list .row', { hasText: text }).first()
  const view = (/** @type {string} */ name) =>
    page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name }).click()
  await row('echo').waitFor()
  await shoot(page, 'list')
  await row('trigger-sampling').click()
  await shoot(page, 'detail')
  await page.getByRole('button', { name: 'Story', exact: true }).click()
  await shoot(page, 'story')
  await page.getByRole('button', { name: 'Payload', exact: true }).click()
  await page.locator('.detail').getByRole('button', { name: 'Copy', exact: true }).click()
  await shoot(page, 'copy-menu')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await row('echo').click({ button: 'right' })
  await shoot(page, 'row-menu')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Choose columns' }).click()
  await shoot(page, 'columns')
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  await page.keyboard.type('tool:')
  await shoot(page, 'filter')
  await page.keyboard.type('nothing-like-this')
  await page.keyboard.press('Enter')
  await shoot(page, 'no-match')
  await page.keyboard.press('Escape')
  await page.keyboard.press('c')
  for (const name of ['Sequence', 'Tools', 'Findings', 'Cost']) {
    await view(name)
    await page.waitForTimeout(700)
    await shoot(page, name.toLowerCase())
    if (name !== 'Sequence') continue
    await page.locator('.arrow-row.kind-request').nth(3).click()
    await shoot(page, 'sequence-chosen')
    await page.keyboard.press('Escape')
  }
  await view('Tools')
  await page.locator('.offers summary', { hasText: 'trigger-sampling-request' }).first().click()
  await page.waitForTimeout(500)
  await shoot(page, 'tool-page')
  await view('Messages')
  for (const [name, key] of /** @type {const} */ ([
    ['help', '?'],
    ['palette', 'Control+k'],
    ['export', 'w'],
    ['about', 'i'],
  ])) {
    await page.keyboard.press(key)
    await page.locator('dialog').waitFor()
    await shoot(page, name)
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
  }
  await page.close()

  for (const message of ['hello from before', 'hello from after'])
    await recordCall(scene, 'echo', { message })
  const tapes = join(folder, 'data/wiretape/recordings')
  const files = readdirSync(tapes).map((name) => join(tapes, name))
  const two = await open('', ...files)
  await two.locator('.list .row', { hasText: 'echo' }).first().waitFor()
  await shoot(two, 'two')
  await two.keyboard.press('4')
  await two.waitForTimeout(700)
  await shoot(two, 'compare')
  await two.locator('.comparison-head').first().click()
  await two.keyboard.press('/')
  await two.keyboard.type('method:tools/list or tool:echo')
  await two.locator('.left-out').waitFor()
  await two.keyboard.press('Escape')
  await shoot(two, 'compare-filter')
  await two.close()
}
