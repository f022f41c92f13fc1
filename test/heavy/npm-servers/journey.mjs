// @ts-check
/**
 * Reads the recording of a real server in the viewer as a person would, and compares it with the output of the command
 * line.
 */
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const deadlineMs = 30_000

/**
 * @param {import('playwright-core').Browser} browser @param {string} cli @param {string} tape
 * @returns {Promise<string[]>} the faults
 */
export async function readInViewer(browser, cli, tape) {
  const ui = spawn(process.execPath, [cli, 'ui', '--no-open', tape], { stdio: ['ignore', 'pipe', 'ignore'] })
  /** @type {string[]} */
  const troubles = []
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  page.setDefaultTimeout(deadlineMs)
  page.on('pageerror', ({ message }) => troubles.push(`the page fails: ${message}`))
  try {
    await page.goto(await addressOf(ui.stdout))
    troubles.push(...(await readAll(page, cli, tape)))
  } catch (problem) {
    troubles.push(`viewer: ${problem instanceof Error ? problem.message : String(problem)}`)
  } finally {
    await page.close()
    ui.kill()
  }
  return troubles
}

/** @param {import('node:stream').Readable} stdout @returns {Promise<string>} */
async function addressOf(stdout) {
  for await (const line of createInterface(stdout)) {
    const url = /viewer: (\S+)/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  throw new Error('wiretape ui printed no address')
}

/** @param {import('playwright-core').Page} page @param {string} cli @param {string} tape @returns {Promise<string[]>} */
async function readAll(page, cli, tape) {
  const records = readFileSync(tape, 'utf8').trimEnd().split('\n').map(parse)
  const { messages, errors } = records.at(-1).wiretape
  const lists = records.filter(({ raw }) => Array.isArray(raw?.result?.tools))
  const tools = new Set(lists.flatMap(({ raw }) => raw.result.tools.map(named)))
  const check = spawnSync(process.execPath, [cli, 'check', tape, '--no-config', '--json'], {
    encoding: 'utf8',
  })
  const found = JSON.parse(check.stdout).recordings[0].findings

  await page
    .locator('.status-bar', { hasText: `shown · ${messages.toLocaleString('en')} messages` })
    .waitFor()
  const count = async (/** @type {string} */ selector) =>
    Number(
      (await page
        .locator(selector)
        .first()
        .textContent({ timeout: 1000 })
        .catch(() => '0')) ?? 0,
    )
  const differs = (/** @type {string} */ what, /** @type {number} */ is, /** @type {number} */ wanted) =>
    is === wanted ? [] : [`viewer: ${what}: ${is}, not ${wanted}`]
  const troubles = differs('errors', await count('.chip .bad-count'), errors)

  // One call and its story.
  await page.locator('.list .row', { hasText: 'tools/call' }).last().click()
  await page.locator('.detail .message.from-server').first().waitFor()
  await page.locator('.detail-tabs button', { hasText: 'Story' }).click()
  await page.locator('.story-steps li').nth(1).waitFor()
  await page.keyboard.press('Escape')

  await page.keyboard.press('3')
  const offered = page.locator('.offer-list .offer-kind', { hasText: /^tool$/ })
  await offered.nth(tools.size - 1).waitFor()
  troubles.push(...differs('tools', await offered.count(), tools.size))
  const bad = await page.locator('.tools-page td.bad').allTextContents()
  const sum = bad.reduce((total, text) => total + Number.parseInt(text, 10), 0)
  troubles.push(...differs('errors of calls', sum, errors))

  await page.keyboard.press('5')
  await page
    .locator(found.length === 0 ? '.findings-page .empty' : '.finding-rule')
    .first()
    .waitFor()
  const lines = await page.locator('.finding-list li').count()
  troubles.push(...differs('findings', lines, found.length))

  await page.keyboard.press('6')
  await page
    .locator('.cost-page tbody tr')
    .nth(tools.size - 1)
    .waitFor()
  const [tokens = ''] = await page.locator('.cost-total b').allTextContents()
  const cost = JSON.parse(
    spawnSync(process.execPath, [cli, 'cost', tape, '--json'], { encoding: 'utf8' }).stdout,
  )
  // The tokens of each definition are rounded up, so the sums may differ.
  const off = Number(tokens.replaceAll(',', '')) - cost.definitionTokens
  return off >= 0 && off <= tools.size
    ? troubles
    : [...troubles, `viewer: ${tokens} tokens, not ${cost.definitionTokens}`]
}

/** @param {string} line @returns {any} */
function parse(line) {
  return JSON.parse(line)
}

/** @param {{ name: string }} tool */
function named({ name }) {
  return name
}
