/** Pictures of pages, and what axe finds in them. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const screenshots = join(root, 'build/screenshots')
const axeTags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
const axeSource = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8')

/** Serious violations that axe finds. @param only one rule of its */
export async function seriousFindings(page: Page, only?: string): Promise<string[]> {
  // Past the policy of the page, which lets no other script in.
  const session = await page.context().newCDPSession(page)
  const loaded = await session.send('Runtime.evaluate', {
    expression: `'axe' in window`,
    returnByValue: true,
  })
  if (loaded.result.value !== true) await session.send('Runtime.evaluate', { expression: axeSource })
  // Only for these, axe makes a selector for every element it looked at; that takes as long as its rules.
  const options = { runOnly: only === undefined ? axeTags : [only], resultTypes: ['violations'] }
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, ${JSON.stringify(options)}).then((r) => r.violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')))`,
    awaitPromise: true,
    returnByValue: true,
  })
  await session.detach()
  return result.value as string[]
}

/** A picture for people, in build/screenshots. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true })
  const size = page.viewportSize()
  await page.screenshot({ path: join(screenshots, `${name}-${size?.width ?? 0}.png`) })
}

/** Checks the page with axe, and takes a picture, at each width and in each colour scheme. Leaves it narrow and dark. */
export async function expectLooks(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      expect(await seriousFindings(page)).toEqual([])
      await picture(page, `${name}-${colorScheme}`)
    }
}
