import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { attach } from '../behaviour/attach.js'
import { type Actor, cli, printed, server, viewerAddress, useStage } from '../behaviour/stage.js'
import { picture, seriousFindings } from './looks.js'
import { keepNotices } from './on-the-page.js'
import { expectQuiet, hasBrowser, useViewer } from './stage.js'

const request = (id: number, method: string, params: unknown = {}): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
const echo = (id: number, text: string): string =>
  request(id, 'tools/call', { name: 'echo', arguments: { text } })

describe.skipIf(!hasBrowser)('acting on a live capture from wiretape ui', () => {
  const stage = useViewer()
  const play = useStage()
  /** The server that is recorded. */
  let program: string
  beforeEach(() => {
    program = 'mini-mcp.mjs'
  })

  /** A recorder with a client that has sent one call, and a page that has control of it. */
  async function begin(
    ...options: string[]
  ): Promise<{ recorder: Actor; page: Page; end: () => Promise<void> }> {
    const recorder = play.start(play.record(server(program), options))
    await recorder.send(echo(1, 'first'))
    await printed(recorder, 'first')
    const actor = play.start([process.execPath, cli, 'ui', '--no-open', play.tape()])
    const page = await stage.open(await viewerAddress(actor))
    await page.getByRole('button', { name: /^Take control/ }).click()
    await page.getByRole('button', { name: 'Hold', exact: true }).waitFor()
    return {
      recorder,
      page,
      async end() {
        expectQuiet(stage)
        await page.context().close()
        recorder.stdin.end()
        await recorder.ended
        actor.child.kill('SIGTERM')
        await actor.ended
      },
    }
  }

  const press = (page: Page, name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).click()
  const queued = (page: Page, text: string) => page.locator('.act-queue li', { hasText: text })

  const editor = (page: Page) => page.locator('.act-box .cm-content')
  /** Replaces the text of the editor. */
  async function write(page: Page, text: string): Promise<void> {
    await editor(page).click()
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Delete')
    await page.keyboard.insertText(text)
  }

  it('holds, edits, answers, drops and forwards, by keyboard too, on every screen', async () => {
    const { recorder, page, end } = await begin()
    await press(page, 'Hold')
    await page.getByRole('button', { name: 'Stop holding', exact: true }).waitFor()
    await recorder.send(echo(2, 'second'))
    await queued(page, 'tools/call echo').waitFor()
    for (const theme of ['light', 'dark'])
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme: theme as 'light' | 'dark' })
        await queued(page, 'tools/call echo').getByRole('button', { name: 'Edit' }).click()
        await picture(page, `acting-edit-${theme}`)
        expect(await seriousFindings(page)).toEqual([])
        await page.keyboard.press('Escape')
        await picture(page, `acting-held-${theme}`)
        expect(await seriousFindings(page)).toEqual([])
      }
    await page.setViewportSize({ width: 1440, height: 900 })

    // Text that is not JSON, or not a message, is not sent.
    await queued(page, 'tools/call echo').getByRole('button', { name: 'Edit' }).focus()
    await page.keyboard.press('Enter')
    const written = await editor(page).innerText()
    await write(page, '{')
    await page.locator('.act-box').getByRole('button', { name: 'Forward' }).click()
    await page.locator('.act-box .failure', { hasText: 'not JSON' }).waitFor()
    await write(page, written.replace('second', 'edited'))
    await page.keyboard.press('Control+Enter')
    await queued(page, 'result').waitFor()
    await queued(page, 'result').getByRole('button', { name: 'Forward' }).click()
    await printed(recorder, 'edited')
    // The row was shown while the message was held, with other arguments.
    const edited = page.locator('.row', { hasText: 'by a person' }).filter({ hasText: 'edited' })
    await edited.filter({ hasNotText: 'second' }).waitFor()

    await recorder.send(echo(3, 'third'))
    await queued(page, 'tools/call echo').getByRole('button', { name: 'Answer' }).click()
    await write(page, '{"result":{"content":[{"type":"text","text":"from the browser"}]}}')
    await page.locator('.act-box').getByRole('button', { name: 'Answer' }).click()
    await printed(recorder, 'from the browser')

    await recorder.send(echo(4, 'fourth'))
    await queued(page, 'tools/call echo').getByRole('button', { name: 'Drop' }).click()
    await queued(page, 'tools/call echo').waitFor({ state: 'detached' })
    expect(recorder.stdout().toString()).not.toContain('fourth')

    // The row has the name of the tool that was called in the end.
    await recorder.send(echo(7, 'seventh'))
    await queued(page, 'tools/call echo').getByRole('button', { name: 'Edit' }).click()
    const sum = { name: 'add', arguments: { a: 20, b: 3 } }
    await write(page, JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: sum }))
    await page.keyboard.press('Control+Enter')
    await queued(page, 'result').getByRole('button', { name: 'Forward' }).click()
    await printed(recorder, '"23"')
    const other = page.locator('.row', { hasText: 'by a person' }).filter({ hasText: 'b: 3' })
    await other.filter({ hasText: 'add' }).filter({ hasNotText: 'echo' }).waitFor()

    await press(page, 'Breakpoints')
    const filter = page.getByLabel('Hold only messages that match this filter; empty for no breakpoint')
    await filter.fill('method:')
    await page.locator('.act-box').getByRole('button', { name: 'Set' }).click()
    await page.locator('.act-box .failure:not(:empty)').waitFor()
    await filter.fill('tool:add is:request')
    await page.locator('.act-box').getByRole('button', { name: 'Set' }).click()
    await page.locator('.act-box').waitFor({ state: 'detached' })
    await recorder.send(echo(5, 'passes'))
    await printed(recorder, 'passes')
    await recorder.send(request(6, 'tools/call', { name: 'add', arguments: { a: 20, b: 22 } }))
    await queued(page, 'tools/call add').waitFor()
    // Held messages go on when the last screen detaches.
    await press(page, 'Release control')
    await printed(recorder, '"42"')
    await end()
  })

  it('sends a request again with changes, many times, compares the answers, and notes', async () => {
    program = 'typed-mcp.mjs'
    const { recorder, page, end } = await begin()
    await recorder.send(request(2, 'tools/list') + request(3, 'tools/list', { cursor: 'two' }))
    await printed(recorder, 'inputSchema')
    await page.locator('.row', { hasText: 'tools/call' }).first().click()
    await press(page, 'Send again')
    const box = page.locator('.act-box')
    await page.getByLabel('Times').fill('3')
    await box.getByRole('button', { name: 'Send' }).click()
    await box.locator('h3', { hasText: '3 of 3: same response as before' }).waitFor()
    // The focus was on a button that was disabled. Keys still do not reach the page behind the box.
    await page.keyboard.press('Escape')
    await box.waitFor({ state: 'hidden' })
    await press(page, 'Send again')
    await write(page, (await editor(page).innerText()).replace('"first"', '"changed"'))
    await box.getByRole('button', { name: 'Send' }).click()
    await box
      .locator('article', { hasText: /different response.*changed/s })
      .locator('.differences')
      .waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'acting-again')
    // Typed over several lines, with errors and completion for the tool that the text names.
    await editor(page).click()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('x')
    await box.locator('.act-faults', { hasText: 'not JSON' }).waitFor()
    await page.keyboard.press('Backspace')
    await page.keyboard.type('{"method":"tools/call","params":{"name":"forecast",')
    await page.keyboard.press('Enter')
    await page.keyboard.type('"arguments":{}}}')
    await box.locator('.act-faults', { hasText: 'city' }).waitFor()
    for (let i = 0; i < 3; i += 1) await page.keyboard.press('ArrowLeft')
    await page.keyboard.type('"')
    await page.locator('.cm-tooltip-autocomplete', { hasText: 'city' }).waitFor()
    await picture(page, 'acting-again-typed')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('x')
    expectQuiet(stage)
    await box.getByRole('button', { name: 'Close' }).click()
    await press(page, 'Add note')
    await page.getByLabel('Note about this message').fill('look here')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.locator('.message.note', { hasText: 'look here' }).waitFor()
    await end()
  })

  it('sends again one round at a time, and cancels it', async () => {
    const { page, end } = await begin()
    await page.locator('.row', { hasText: 'tools/call' }).first().click()
    await press(page, 'Send again')
    const box = page.locator('.act-box')
    await page.getByLabel('Times').fill('3')
    const slow = { name: 'slow', arguments: { ms: 3_600_000 } }
    await write(page, request(1, 'tools/call', slow))
    const send = box.getByRole('button', { name: 'Send', exact: true })
    await send.click()
    await box.getByText('0 of 3 responses').waitFor()
    expect(await send.isDisabled()).toBe(true)
    await editor(page).press('Control+Enter')
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme })
        expect(await seriousFindings(page)).toEqual([])
        await picture(page, `acting-again-busy-${colorScheme}`)
      }
    await box.getByRole('button', { name: 'Cancel' }).click()
    await box.locator('h3', { hasText: '3 of 3: cancelled' }).waitFor()
    expect(await send.isDisabled()).toBe(false)
    await picture(page, 'acting-again-cancelled')
    await page.setViewportSize({ width: 1440, height: 900 })
    await box.getByRole('button', { name: 'Close' }).click()
    await page.locator('.row', { hasText: 'slow' }).nth(2).waitFor()
    expect(await page.locator('.row', { hasText: 'tools/call' }).filter({ hasText: 'slow' }).count()).toBe(3)
    await end()
  })

  it('calls a tool with what its form says, without the client seeing it', async () => {
    program = 'typed-mcp.mjs'
    const { recorder, page, end } = await begin()
    await press(page, 'Call a tool')
    const box = page.locator('.act-bench')
    await box.getByLabel('Tool', { exact: true }).selectOption('forecast')
    await box.getByLabel('city (required)').fill('Graz')
    await box.getByLabel('days').fill('three')
    await box.getByRole('button', { name: 'Call' }).click()
    await box.locator('.failure', { hasText: 'days is not a number' }).waitFor()
    await box.getByLabel('days').fill('3')
    await box.getByLabel('alerts').selectOption('true')
    await box.getByLabel('unit').selectOption('imperial')
    await box.getByRole('button', { name: 'Add an element to tags' }).click()
    await box.getByLabel('tags 1', { exact: true }).fill('a')
    await box.getByRole('button', { name: 'tags as JSON' }).click()
    await box.getByLabel('tags, as JSON').fill('["a", 1.5]')
    await box.getByRole('button', { name: 'Add route' }).click()
    await box.getByLabel('from (required)').fill('g')
    await box.getByRole('button', { name: 'Add an element to stops' }).click()
    await box.getByLabel('name (required)').fill('Wien')
    await box.getByLabel('on', { exact: true }).fill('2026-08-01')
    await box.getByLabel('note', { exact: true }).fill('one')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('two')
    await box.getByRole('button', { name: 'Call', exact: true }).click()
    await box.locator('.act-fault', { hasText: 'has 1 character, expected at least 2' }).waitFor()
    await box.locator('.failure', { hasText: 'tags.1 is a number, not string' }).waitFor()
    await box.getByLabel('from (required)').fill('graz')
    await box.locator('.act-fault', { hasText: 'does not match the pattern' }).waitFor()
    await picture(page, 'acting-call-faults')
    await box.getByLabel('from (required)').fill('Graz')
    await box.getByRole('button', { name: 'Call anyway' }).click()
    const route = { from: 'Graz', stops: [{ name: 'Wien', on: '2026-08-01', note: 'one\ntwo' }] }
    const got = { city: 'Graz', days: 3, alerts: true, unit: 'imperial', tags: ['a', 1.5], route }
    await box.locator('.act-answers pre', { hasText: `got ${JSON.stringify(got)}` }).waitFor()
    for (const theme of ['light', 'dark'] as const)
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 800 })
        await page.emulateMedia({ colorScheme: theme })
        await picture(page, `acting-call-${theme}`)
        expect(await seriousFindings(page)).toEqual([])
      }
    await box.getByRole('button', { name: 'Close' }).click()
    await page.locator('.row', { hasText: 'forecast' }).first().waitFor()
    expect(recorder.stdout().toString()).not.toContain('Graz')
    await end()
  })

  it('starts the server again', async () => {
    const { page, end } = await begin('--reloadable')
    await press(page, 'Reload server')
    await page.locator('.notice', { hasText: 'Server restarted.' }).waitFor()
    await end()
  })

  it('says what cannot be done, in every colour, and shows what is chosen in colours of the system too', async () => {
    const rules = play.path('rules.yaml')
    writeFileSync(rules, "rules:\n  - name: mine\n    when: 'tool:add'\n    drop: true\n")
    const { page, end } = await begin('--rules', rules)
    // Not offered where the capture cannot do it.
    expect(await page.getByRole('button', { name: 'Reload server' }).count()).toBe(0)
    await press(page, 'Rules rules.yaml: on (1)')
    const turnOn = 'Rules rules.yaml: off'
    await page.getByRole('button', { name: turnOn }).waitFor()
    writeFileSync(rules, 'rules: 5\n')
    const refused = page.locator('.notice.bad', { hasText: 'rules.yaml' })
    await keepNotices(page)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await press(page, turnOn)
      await refused.waitFor()
      expect(await seriousFindings(page)).toEqual([])
    }

    await page.emulateMedia({ forcedColors: 'active' })
    await page.locator('.row', { hasText: 'tools/call' }).first().click()
    await press(page, 'Hold')
    await page.getByRole('button', { name: 'Stop holding', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Tool calls' }).click()
    await press(page, turnOn)
    await refused.waitFor()
    const styleOf = (selector: string, property: string): Promise<string> =>
      page.evaluate(
        `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue('${property}')`,
      )
    expect(await styleOf('.row.selected', 'outline-style')).toBe('solid')
    for (const kind of ['.act-controls .button', '.chip', '.views button']) {
      const pressed = await styleOf(`${kind}[aria-pressed='true']`, 'background-color')
      expect(pressed).not.toBe(await styleOf(`${kind}:not([aria-pressed='true'])`, 'background-color'))
    }
    expect(await styleOf('.notice.bad', 'border-top-width')).toBe('2px')
    await picture(page, 'acting-forced-colours')
    await end()
  })

  it('overrides an answer from a row by a rule that is in force at once, and removes it', async () => {
    const { recorder, page, end } = await begin()
    await page.locator('.row', { hasText: 'tools/call' }).first().click()
    await press(page, 'Override')
    const rule = page.getByLabel('Rule as YAML')
    expect(await rule.inputValue()).toContain('tool:echo')
    await rule.fill((await rule.inputValue()).replace('"text":"first"', '"text":"overridden"'))
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'acting-override')
    await page.getByRole('button', { name: 'Add rule' }).click()
    await page.locator('.notice', { hasText: 'Rule added: answer echo' }).waitFor()
    await recorder.send(echo(2, 'first'))
    await printed(recorder, 'overridden')
    await press(page, 'Rules')
    await page.locator('.act-log li', { hasText: 'answer echo' }).waitFor()
    await page.getByRole('button', { name: 'Remove answer echo' }).click()
    await page.locator('.act-box', { hasText: 'No rules yet.' }).waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await recorder.send(echo(3, 'first'))
    await printed(recorder, '"id":3')
    expect(recorder.stdout().toString().split('overridden').length).toBe(2)
    await end()
  })

  it('turns rules off and on', async () => {
    writeFileSync(
      play.path('rules.yaml'),
      "rules:\n  - name: mine\n    when: 'tool:add is:request'\n    respond: { result: { content: [] } }\n",
    )
    const { recorder, page, end } = await begin('--rules', play.path('rules.yaml'))
    await page.getByRole('button', { name: 'Rules rules.yaml: on (1)' }).click()
    await page.getByRole('button', { name: 'Rules rules.yaml: off' }).waitFor()
    await recorder.send(request(2, 'tools/call', { name: 'add', arguments: { a: 20, b: 22 } }))
    await printed(recorder, '"42"')
    await page.getByRole('button', { name: 'Rules rules.yaml: off' }).click()
    await page.getByRole('button', { name: 'Rules rules.yaml: on (1)' }).waitFor()
    await end()
  })

  it('takes part beside other screens, and is told when the capture is over', async () => {
    const { recorder, page } = await begin()
    const screen = await attach(play)
    await screen.tell({ type: 'hold', on: true })
    await page.getByRole('button', { name: 'Stop holding', exact: true }).waitFor()
    await recorder.send(echo(2, 'second'))
    await queued(page, 'tools/call echo').waitFor()
    const held = await screen.held()
    await screen.tell({ type: 'drop', message: held['message'] })
    await queued(page, 'tools/call echo').waitFor({ state: 'detached' })
    recorder.stdin.end()
    await recorder.ended
    await page.getByRole('button', { name: 'Hold', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Connect to the server/ }).waitFor()
    expectQuiet(stage)
    await page.context().close()
  })
})

describe('the static page', () => {
  it('has no way to act: the client of the acting channel is in another script', () => {
    const dist = join(import.meta.dirname, '../../dist')
    const marks = /x-wiretape-act|api\/control|\/control`|api\/sessions|cm-content/
    for (const name of readdirSync(join(dist, 'viewer')))
      expect(readFileSync(join(dist, 'viewer', name), 'utf8')).not.toMatch(marks)
    // The marks are those of the client.
    const acting = readFileSync(join(dist, 'acting/acting.js'), 'utf8')
    for (const mark of ['x-wiretape-act', 'api/control', 'api/sessions']) expect(acting).toContain(mark)
    expect(readFileSync(join(dist, 'acting/editor.js'), 'utf8')).toContain('cm-content')
  })
})
