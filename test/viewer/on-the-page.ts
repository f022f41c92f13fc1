/** Helpers that wait for the viewer's page and read it. */
import type { Page } from 'playwright-core'

/** Waits until something holds in the page. An expression may throw while an element is missing. */
export async function holds(page: Page, expression: string): Promise<void> {
  const deadline = Date.now() + 30_000
  let thrown: unknown
  // Playwright's own wait would need a policy that allows eval.
  const isTrue = (): Promise<boolean> =>
    page.evaluate<boolean>(expression).catch((error: unknown) => {
      thrown = error
      return false
    })
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`did not come to hold: ${expression}`, { cause: thrown })
    await new Promise((done) => setTimeout(done, 30))
  }
}

/** Waits until so many messages and other entries are read. */
export function read(page: Page, messages: number): Promise<void> {
  // Other lines, such as stderr, are counted apart: `9 rows shown · 14 messages, 2 other entries`.
  const pattern = String.raw`/shown · ([\d,]+) messages?(?:, ([\d,]+) other)?/`
  return holds(
    page,
    `(() => {
      const [, all, others = '0'] = ${pattern}.exec(document.querySelector('.status-bar')?.textContent ?? '') ?? []
      if (all === undefined || document.querySelector('.status-bar progress')) return false
      return Number(all.replaceAll(',', '')) + Number(others.replaceAll(',', '')) === ${messages}
    })()`,
  )
}

/** The rows of the list that are in the page: method, subject and status. */
export function rows(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('.list .scroller .row')]
    .sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex'))
    .map((row) => ['.name b', '.subject', '.status'].map((part) => row.querySelector(part)?.textContent ?? '').join(' ').replace(/ +/g, ' ').trim())`)
}

/** Sums up how much of the page jumps without the person having done anything. */
export const watchShifts = `{
  window.shifted = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value
  }).observe({ type: 'layout-shift' })
}`

/** Notices go away by themselves; axe has to see them. */
export async function keepNotices(page: Page): Promise<void> {
  await page.evaluate(
    `{ const later = setTimeout; window.setTimeout = (done, ms) => (ms >= 2_000 ? 0 : later(done, ms)) }`,
  )
}
