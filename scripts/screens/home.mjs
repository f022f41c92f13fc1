// @ts-check
import { writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { recordCall, recordLive } from './record.mjs'

/** @param {import('../screens.mjs').Scene} scene */
export async function homeScreens(scene) {
  const { open, shoot, folder } = scene
  const first = await open()
  await first.getByText('No recordings yet').waitFor()
  await shoot(first, 'first')
  await first.close()

  for (const message of ['hello', 'a longer message about kettles'])
    await recordCall(scene, 'echo', { message })
  await recordCall(scene, 'get-sum', { a: 2 })
  const live = recordLive(scene, '--label', 'waiting for its client')
  mkdirSync(join(folder, 'calls'))
  const call = (/** @type {string} */ name, /** @type {string} */ text) =>
    `  - name: ${name}\n    request: { tool: echo, arguments: { message: hi } }\n    expect: { values: { '$.result.content[0].text': '${text}' } }\n`
  const server = `server: { command: ${JSON.stringify(scene.everything)} }\n`
  writeFileSync(
    join(folder, 'calls/kettle.yaml'),
    `${server}calls:\n${call('works', 'Echo: hi')}${call('does not', 'Echo: ho')}`,
  )

  const page = await open()
  await page.locator('.recording').nth(3).waitFor()
  await page.locator('.act-saved').waitFor()
  await page.getByRole('checkbox').first().check()
  await shoot(page, 'list')
  await page.getByRole('button', { name: 'Run all' }).click()
  await page.getByRole('button', { name: 'Start and run' }).waitFor()
  await shoot(page, 'saved-confirm')
  await page.getByRole('button', { name: 'Start and run' }).click()
  await page.locator('.act-saved').getByText('as expected').waitFor()
  await shoot(page, 'saved-calls')
  await page.getByRole('searchbox').fill('kettles')
  await page.keyboard.press('Enter')
  await page
    .locator('.home-found, .found')
    .first()
    .waitFor({ timeout: 5_000 })
    .catch(() => undefined)
  await shoot(page, 'search')
  await page.getByRole('searchbox').fill('')
  await page
    .getByRole('button', { name: /^Delete/ })
    .last()
    .click()
  await shoot(page, 'delete')
  await page
    .getByRole('button', { name: /^Connect to the server of/ })
    .last()
    .click()
  await page.locator('.act-box pre').waitFor()
  await shoot(page, 'connect')
  await page.keyboard.press('Escape')
  await page.getByText('waiting for its client').click()
  await page.waitForTimeout(500)
  await shoot(page, 'waiting')
  await live.greet()
  await page.waitForTimeout(500)
  await page.close()
}
