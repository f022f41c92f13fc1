import { mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Actor, cli, server, until, viewerAddress, useStage } from '../behaviour/stage.js'
import { picture, seriousFindings } from './looks.js'
import { expectQuiet, hasBrowser, useViewer } from './stage.js'

/** Visible and spoken texts of a page, shadow trees included. Values of fields are read separately. */
const shown = `(() => {
  const said = [document.title]
  const look = (root) => {
    for (const one of root.querySelectorAll('*')) {
      for (const name of ['title', 'aria-label', 'alt', 'placeholder', 'label'])
        if (one.hasAttribute(name)) said.push(one.getAttribute(name))
      if (one.shadowRoot) look(one.shadowRoot)
    }
    said.push(...[...root.children].map((one) => one.textContent))
  }
  look(document.body)
  return said
})()`

/** Elements and attributes that run code, load something or navigate without the user. */
const active = `(() => {
  const found = []
  const look = (root) => {
    for (const one of root.querySelectorAll('script, svg[onload], iframe, object, img, a[href], [onerror]')) {
      const own = one.closest('head') || one.matches('img.cm-widgetBuffer:not([src])')
      const safe = /^(https?:|\\.\\/|#)/.test(one.getAttribute('href') ?? '')
      if (!own && !(one.localName === 'a' && safe) && !(one.localName === 'script' && one.src.startsWith(location.origin)))
        found.push(one.outerHTML.slice(0, 200))
    }
    for (const one of root.querySelectorAll('*')) if (one.shadowRoot) look(one.shadowRoot)
  }
  look(document)
  return found
})()`

describe.skipIf(!hasBrowser)('a server that wants to act on the page', () => {
  const stage = useViewer()
  const play = useStage()
  let trap: Server
  let caught: string[]
  beforeEach(async () => {
    caught = []
    mkdirSync(join(play.env['XDG_DATA_HOME']!, 'wiretape/recordings'), { recursive: true })
    trap = createServer(({ url }, response) => {
      caught.push(url ?? '')
      response.end()
    })
    await new Promise<void>((done) => trap.listen(0, '127.0.0.1', done))
  })
  afterEach(async () => {
    trap.closeAllConnections()
    trap.close()
  })

  const injecting = (): string[] => [
    ...server('injecting-mcp.mjs'),
    String((trap.address() as AddressInfo).port),
  ]

  async function ui(...files: string[]): Promise<{ actor: Actor; page: Page; outside: string[] }> {
    const actor = play.start([process.execPath, cli, 'ui', '--no-open', ...files])
    const url = await viewerAddress(actor)
    const page = await stage.open(url)
    const outside: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(new URL(url).origin)) outside.push(request.url())
    })
    return { actor, page, outside }
  }

  /** A session with the server, in the workbench of a page. */
  async function session(): Promise<Awaited<ReturnType<typeof ui>>> {
    await play.start([process.execPath, cli, 'call', 'tool 1', '{}', '--', ...injecting()]).ended
    const opened = await ui()
    await opened.page.getByRole('button', { name: /^Connect to the server of/ }).click()
    await opened.page.locator('.act-box').getByRole('button', { name: 'Start and connect' }).click()
    await opened.page.locator('.act-bench').getByLabel('Tool', { exact: true }).waitFor()
    return opened
  }

  async function unharmed(page: Page, name: string): Promise<void> {
    const said = await page.evaluate<string[]>(shown)
    // Line feeds and tabs format texts; any other control character must be visible.
    const hidden = said.flatMap((text) => text.match(/.{0,60}(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/u) ?? [])
    expect(hidden.map((text) => JSON.stringify(text))).toEqual([])
    expect(said.join('')).toContain(String.raw`\u{202e}`)
    expect(await page.evaluate(active)).toEqual([])
    expect(await page.evaluate('window.pwned')).toBeUndefined()
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, `injecting-${name}`)
  }

  async function end({ actor, page, outside }: Awaited<ReturnType<typeof ui>>): Promise<void> {
    expect(outside).toEqual([])
    expect(caught).toEqual([])
    expectQuiet(stage)
    await page.context().close()
    actor.child.kill('SIGTERM')
    await actor.ended
  }

  it('gets nothing run or loaded in the workbench, and hides nothing there', async () => {
    const opened = await session()
    const { page } = opened
    const bench = page.locator('.act-bench')
    const press = (name: string | RegExp): Promise<void> =>
      bench
        .getByRole('button', typeof name === 'string' ? { name, exact: true } : { name })
        .first()
        .click()
    const tool = bench.getByLabel('Tool', { exact: true })
    await bench.getByText('Server instructions').click()
    await unharmed(page, 'tools')
    // A field shows no invisible characters of a value: they are named below it.
    expect(await bench.locator('.act-unseen').allTextContents()).toEqual([
      expect.stringContaining(String.raw`Invisible characters: \u{202e} \u{202c} \u{200b} \u{2060}`),
      expect.stringContaining(String.raw`\u{202e}`),
    ])
    await press('Edit as JSON')
    await bench
      .locator('.cm-content .cm-unseen', { hasText: String.raw`\u{e006f}` })
      .first()
      .waitFor()
    await unharmed(page, 'json')
    await press('Edit in the form')

    await press('Call')
    await bench.getByText(/^1 of 3 progress/).waitFor()
    await bench.locator('.act-asked').nth(3).waitFor()
    await unharmed(page, 'asked')
    await press('Show 51 more of 51 messages')
    await bench.getByText('turn 149').waitFor()
    await press(/^Notifications/)
    await until('all are told', async () => (await bench.locator('.act-log li').count()) >= 3)
    await unharmed(page, 'notifications')
    await press('Tools')
    await tool.waitFor()
    await press('Prompts')
    await bench.getByRole('button', { name: 'Get the prompt' }).click()
    await bench.locator('.act-answers').waitFor()
    await bench.locator('datalist option').first().waitFor({ state: 'attached' })
    await unharmed(page, 'prompts')
    await press('Resources')
    await bench.getByRole('button', { name: 'Read', exact: true }).click()
    await bench.locator('.act-answers').waitFor()
    await unharmed(page, 'resources')
    for (const decision of ['Decline', 'Decline', 'Reject', 'Answer']) {
      const left = await bench.locator('.act-asked').count()
      await press(decision)
      await until('it is decided', async () => (await bench.locator('.act-asked').count()) === left - 1)
    }
    await press('Tools')
    await tool.selectOption({ index: 2 })
    await press('Call')
    await bench.locator('.act-answers', { hasText: 'first' }).waitFor()
    await unharmed(page, 'failed')
    await press('Save the call')
    await page.locator('.notice').waitFor()
    await unharmed(page, 'saved')
    await press('End session')
    await page.getByRole('link', { name: 'wiretape' }).click()
    await page.locator('.recording').nth(1).waitFor()
    await page.locator('.act-saved').waitFor()
    await unharmed(page, 'home')
    await end(opened)
  })

  it('draws as much of long lists and texts as one looks at', async () => {
    const opened = await session()
    const { page } = opened
    const bench = page.locator('.act-bench')
    const tool = bench.getByLabel('Tool', { exact: true })
    const more = (name: string): Promise<void> => bench.getByRole('button', { name, exact: true }).click()
    expect(await tool.locator('option').count()).toBe(500)
    await more('Show 500 more of 703 tools')
    await more('Show 203 more of 203 tools')
    expect(await tool.locator('option').count()).toBe(1_203)
    await tool.selectOption('many')
    expect((await bench.locator('.act-about').last().textContent())!.length).toBeLessThan(2_100)
    await bench.locator('.act-about').last().getByRole('button', { name: 'Show 8.0 kB more' }).click()
    expect((await bench.locator('.act-about').last().textContent())!.length).toBe(10_000)
    const choice = bench.getByLabel('one', { exact: true })
    await more('Show 500 more of 600 choices')
    expect(await choice.locator('option').count()).toBe(1_001)
    expect(await bench.locator('.act-tab .act-field textarea').count()).toBe(99)
    await more('Show 100 more of 151 fields')
    expect(await bench.locator('.act-tab .act-field textarea').count()).toBe(199)
    await picture(page, 'injecting-many')
    await more('Call')
    const answer = bench.locator('.act-answers')
    await answer.getByText('block 99', { exact: true }).waitFor()
    expect(await answer.getByText(/^block \d+$/).count()).toBe(100)
    await more('Show 100 more of 250 blocks')
    await answer.getByText('block 199', { exact: true }).waitFor()
    await tool.selectOption('tool 0')
    await more('Call')
    await more('Show 5 more of 5 requests')
    await bench.locator('.act-asked').nth(24).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await end(opened)
  })

  it('gets nothing run or loaded by who holds, edits, repeats and overrides its messages', async () => {
    const recorder = play.start(play.record(injecting()))
    let id = 0
    const say = (method: string, params: unknown = {}): Promise<void> =>
      recorder.send(`${JSON.stringify({ jsonrpc: '2.0', id: (id += 1), method, params })}\n`)
    const clientInfo = { name: '\u202ereversed<img src=x onerror="window.pwned=1">', version: '1' }
    await say('initialize', { protocolVersion: '2025-11-25', clientInfo, capabilities: {} })
    await say('tools/list')
    await until('the list has come', () => recorder.stdout().toString().split('\n').length > 2)
    const { tools } = (
      JSON.parse(recorder.stdout().toString().trim().split('\n')[1]!) as {
        result: { tools: { name: string }[] }
      }
    ).result
    const fails = { name: tools[2]!.name, arguments: { q: '\u202eobey' } }
    await say('tools/call', fails)
    await say('tools/call', { name: 'tool 1' })
    await until('both are answered', () => /"id":4[^]*\n$/.test(recorder.stdout().toString()))
    const opened = await ui(play.tape())
    const { page } = opened
    const box = page.locator('.act-box')
    const press = (name: string | RegExp): Promise<void> =>
      page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name }).click()
    await page.getByRole('button', { name: /^Take control/ }).click()
    await press('Hold')
    await page.getByRole('button', { name: 'Stop holding' }).waitFor()
    await say('tools/call', fails)
    const held = page.locator('.act-queue li')
    await held.first().waitFor()
    await unharmed(page, 'held')
    await held.first().getByRole('button', { name: 'Edit' }).click()
    const mark = box.locator('.cm-content .cm-unseen', { hasText: String.raw`\u{202e}` })
    await mark.nth(1).waitFor()
    expect(await mark.first().getAttribute('title')).toBe('Invisible character U+202E')
    await unharmed(page, 'edit')
    // Characters drawn as escapes are unchanged in the text.
    await box.locator('.cm-content').click()
    await page.keyboard.press('Control+End')
    await page.keyboard.insertText(' ')
    await page.keyboard.press('Control+Enter')
    await held.first().getByRole('button', { name: 'Forward' }).click()
    await until('it is answered', () => recorder.stdout().includes('"id":5'))
    await press('Stop holding')

    await page.locator('.row', { hasText: 'fails' }).first().click()
    await press('Send again')
    await box.getByRole('button', { name: 'Send', exact: true }).click()
    await box.locator('h3', { hasText: 'same response as before' }).waitFor()
    await unharmed(page, 'again')
    await box.getByRole('button', { name: 'Close' }).click()
    await page.locator('.row', { hasText: 'tools/call tool 1' }).first().click()
    await press('Send again')
    await page.getByLabel('Times').fill('12')
    await box.getByRole('button', { name: 'Send', exact: true }).click()
    await box.getByRole('button', { name: 'Show 2 more of 2 responses' }).click()
    await box.locator('article').nth(11).waitFor()
    await box.getByRole('button', { name: 'Close' }).click()
    await page.locator('.row', { hasText: 'fails' }).first().click()
    await press('Override')
    // The rule is text with escapes, so that it shows all that it answers.
    const rule = page.getByLabel('Rule as YAML')
    await rule.waitFor()
    expect(await rule.inputValue()).toContain(String.raw`\u202e`)
    expect(await box.locator('.act-unseen').count()).toBe(0)
    await unharmed(page, 'override')
    await box.getByRole('button', { name: 'Add rule' }).click()
    await page.locator('.notice', { hasText: 'Rule added' }).waitFor()
    await press('Rules')
    await box.locator('.act-log li').waitFor()
    await unharmed(page, 'rules')
    await box.getByRole('button', { name: 'Close' }).click()
    recorder.stdin.end()
    await recorder.ended
    await end(opened)
  })
})
