import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { everythingScript } from '../clients/everything.js'
import { type Actor, cli, server, until, viewerAddress, useStage, recordingsOf } from '../behaviour/stage.js'
import { expectLooks, picture, seriousFindings } from './looks.js'
import { holds } from './on-the-page.js'
import { expectQuiet, hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

describe.skipIf(!hasBrowser)('the workbench of wiretape ui', () => {
  const stage = useViewer()
  const play = useStage()
  const recordings = (): string => recordingsOf(play)
  beforeEach(() => void recordings())
  const pages: Page[] = []
  afterEach(async () => {
    // A page of a test that failed would complain in the next one that its server is gone.
    for (const page of pages.splice(0)) await page.context().close()
  })

  async function ui(...options: string[]): Promise<{ actor: Actor; page: Page }> {
    const actor = play.start([process.execPath, cli, 'ui', '--no-open', ...options])
    const page = await stage.open(await viewerAddress(actor))
    pages.push(page)
    return { actor, page }
  }

  const everythingServer = [process.execPath, everythingScript]

  /** Makes a recording of this user, with one call. */
  async function record(
    command = everythingServer,
    tool = 'echo',
    given = '{"message":"hi"}',
  ): Promise<void> {
    const actor = play.start([process.execPath, cli, 'call', tool, given, '--', ...command])
    await actor.ended
    if (command === everythingServer) expect(actor.stdout().toString()).toContain('Echo: hi')
  }

  /** The workbench of a session with the server of a new recording. */
  async function workbench(...recorded: Parameters<typeof record>): Promise<{
    actor: Actor
    page: Page
    bench: Locator
    press: (name: string | RegExp) => Promise<void>
    tool: (name: string) => Promise<unknown>
    answered: (text: string) => Promise<void>
  }> {
    await record(...recorded)
    const { actor, page } = await ui()
    await page.getByRole('button', { name: /^Connect to the server of/ }).click()
    await page.getByRole('button', { name: 'Start and connect' }).click()
    const bench = page.locator('.act-bench')
    await bench.getByLabel('Tool', { exact: true }).waitFor()
    return {
      actor,
      page,
      bench,
      press: (name) =>
        bench.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name }).click(),
      tool: (name) => bench.getByLabel('Tool', { exact: true }).selectOption(name),
      answered: (text) => bench.locator('.act-answers', { hasText: text }).waitFor(),
    }
  }

  async function end(page: Page, actor: Actor): Promise<void> {
    expectQuiet(stage)
    await page.context().close()
    actor.child.kill('SIGTERM')
    await actor.ended
  }

  async function connect(page: Page): Promise<void> {
    await page.getByRole('button', { name: /^Connect to the server of/ }).click()
    const box = page.locator('.act-box')
    expect(await box.locator('pre').textContent()).toContain(everythingScript)
    expect(await box.textContent()).toContain('XDG_DATA_HOME')
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'workbench-confirm')
    await page.getByRole('button', { name: 'Start and connect' }).click()
    await page.locator('.act-bench').getByLabel('Tool', { exact: true }).waitFor()
  }

  it('connects to the server of a recording, and is its whole client', async () => {
    await record()
    const { actor, page } = await ui()
    await connect(page)
    const bench = page.locator('.act-bench')
    const press = (name: string | RegExp): Promise<void> =>
      bench.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name }).click()
    const tool = (name: string): Promise<unknown> =>
      bench.getByLabel('Tool', { exact: true }).selectOption(name)
    const answered = (text: string): Promise<void> =>
      bench.locator('.act-answers', { hasText: text }).waitFor()

    await bench.getByLabel('message (required)').fill('from the page')
    await press('Call')
    await answered('Echo: from the page')
    await page.locator('.row', { hasText: 'from the page' }).first().waitFor()
    await press('Save the call')
    await page.locator('.notice', { hasText: 'saved: ' }).waitFor()
    await expectLooks(page, 'workbench')
    await page.setViewportSize({ width: 1440, height: 900 })

    // The editor knows the schema: names, and what does not fit.
    await press('Edit as JSON')
    const json = bench.locator('.cm-content')
    await json.click()
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Delete')
    await page.keyboard.type('{"')
    await bench.locator('.cm-tooltip-autocomplete', { hasText: 'message' }).waitFor()
    await picture(page, 'workbench-complete')
    // A list that has just opened ignores keys for 75 ms (`interactionDelay` of CodeMirror).
    await page.waitForTimeout(200)
    await page.keyboard.press('Enter')
    await page.keyboard.type('5')
    await bench.locator('.act-faults', { hasText: 'message is a number, not string' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.keyboard.press('Backspace')
    await page.keyboard.type('"written"')
    await holds(page, `document.querySelector('.act-faults').textContent === ''`)
    await page.keyboard.press('Control+Enter')
    await answered('Echo: written')

    await tool('trigger-long-running-operation')
    await bench.getByLabel('duration').fill('60')
    await bench.getByLabel('steps').fill('120')
    await press('Call')
    await bench.locator('progress').waitFor()
    await press('Cancel')
    await bench.locator('.failure', { hasText: 'it was cancelled' }).waitFor()
    await page.locator('.row', { hasText: 'trigger-long-running-operation' }).first().waitFor()

    await tool('trigger-sampling-request')
    await bench.getByLabel('prompt (required)').fill('what is a kettle?')
    await press('Call')
    const asked = bench.locator('.act-asked')
    await asked.getByLabel('Model response').fill('a pot with a spout')
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'workbench-sampling')
    await asked.getByRole('button', { name: 'Answer' }).click()
    await answered('a pot with a spout')

    await tool('trigger-elicitation-request')
    await press('Call')
    await asked.getByLabel(/^name/).fill('Ada')
    await picture(page, 'workbench-elicitation')
    await asked.getByRole('button', { name: 'Accept' }).click()
    await answered('Ada')

    // The server gives the same two requests to its client as tasks, and fetches the results.
    await tool('trigger-sampling-request-async')
    await bench.getByLabel('prompt (required)').fill('what is a lid?')
    await press('Call')
    await asked.getByLabel('Model response').fill('a cover')
    await asked.getByRole('button', { name: 'Answer' }).click()
    await answered('Async sampling completed')
    await answered('a cover')
    await tool('trigger-elicitation-request-async')
    await press('Call')
    await asked.getByRole('button', { name: 'Decline' }).click()
    await answered('declined')

    await press('Roots')
    await bench.getByLabel('Roots, one per line').fill('file:///tmp/kettle')
    await press('Set')
    await page.locator('.notice', { hasText: 'Roots set.' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await press('Tools')
    await tool('get-roots-list')
    await press('Call')
    await answered('file:///tmp/kettle')

    await press('Prompts')
    await bench.getByLabel('Prompt', { exact: true }).selectOption('completable-prompt')
    await bench.getByLabel(/^department/).fill('E')
    await bench.locator('datalist option[value="Engineering"]').waitFor({ state: 'attached' })
    await bench.getByLabel(/^department/).fill('Engineering')
    await bench.getByLabel(/^name/).fill('Alice')
    await press('Get the prompt')
    await answered('Alice')

    await press('Resources')
    await bench.getByLabel('Resource or template').selectOption('demo://resource/dynamic/text/{resourceId}')
    await bench.getByLabel('resourceId', { exact: true }).fill('1')
    await press('Subscribe')
    await bench.getByRole('button', { name: 'Unsubscribe' }).waitFor()
    await press('Read')
    await answered('demo://resource/dynamic/text/1')

    await press(/^Notifications/)
    await bench.getByLabel('Log level').selectOption('debug')
    await bench.locator('.act-log li', { hasText: 'progress' }).first().waitFor()
    // Words, no JSON.
    expect(await bench.locator('.act-log').textContent()).not.toContain('{')
    await picture(page, 'workbench-notifications')
    expect(await seriousFindings(page)).toEqual([])

    // The session outlives a reload of its page, and ends with a press.
    await page.reload()
    await page.getByRole('button', { name: 'Workbench' }).click()
    await bench.getByLabel('Tool', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'End session' }).click()
    await bench.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /^Connect to the server of/ }).waitFor()
    const tapes = readdirSync(recordings()).map((name) => readFileSync(join(recordings(), name), 'utf8'))
    expect(tapes.length).toBe(2)
    expect(tapes.some((text) => text.includes('a pot with a spout') && text.includes('"type":"end"'))).toBe(
      true,
    )

    // The saved call is run again from home, and its differences are shown.
    await page.goto(new URL('/?home', page.url()).href)
    const saved = page.locator('.act-saved')
    await page.getByRole('button', { name: 'Saved calls', exact: true }).click()
    await saved.getByRole('button', { name: 'Run all' }).click()
    await page.locator('.act-box').getByRole('button', { name: 'Start and run' }).click()
    await saved.getByText('as expected').waitFor()
    const file = play.path('calls/calls.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('Echo: from the page', 'Echo: something else'))
    await saved.getByRole('button', { name: 'Run echo', exact: true }).click()
    await saved
      .locator('p', { hasText: 'expected "Echo: something else", got "Echo: from the page"' })
      .waitFor()
    const run = play.start([process.execPath, cli, 'run', 'calls'])
    expect((await run.ended).exitCode).toBe(1)
    expect(run.stdout().toString()).toContain('Echo: something else')
    await expectLooks(page, 'workbench-saved')
    await end(page, actor)
  })

  it('runs a tool as a task, shows its status, its questions and its result, and cancels it', async () => {
    const { actor, page, bench, press, tool, answered } = await workbench()
    await tool('simulate-research-query')
    await bench.getByLabel('topic (required)').fill('python')
    await bench.getByLabel('ambiguous').selectOption('true')
    await press('Call')
    await bench.getByRole('status').filter({ hasText: 'task: working · Gathering sources' }).waitFor()
    const asked = bench.locator('.act-asked')
    await asked.getByLabel('interpretation (required)').selectOption({ label: 'Python snake species' })
    await bench.getByRole('status').filter({ hasText: 'task: waiting for input' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'workbench-task')
    await asked.getByRole('button', { name: 'Accept' }).click()
    await answered('Research Report: python')
    // The text is Markdown, and read as such.
    await bench
      .locator('.act-answers h1, .act-answers .markdown', { hasText: 'Research Report' })
      .first()
      .waitFor()
    await picture(page, 'workbench-task-done')

    await press('Call')
    await bench.getByRole('status').filter({ hasText: 'task: working' }).waitFor()
    await press('Cancel')
    await bench.locator('.failure', { hasText: 'the task was cancelled' }).waitFor()
    await page.locator('.row', { hasText: 'tasks/cancel' }).first().waitFor()
    await end(page, actor)
  })

  it('follows a task that a server of 2026-07-28 makes of a call, and answers it', async () => {
    const { actor, page, bench, press, answered } = await workbench(
      server('modern-task-mcp.mjs'),
      'build',
      '{"what":"shed"}',
    )
    await press('Edit as JSON')
    const json = bench.locator('.cm-content')
    await json.click()
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Delete')
    await page.keyboard.type('{"what":"shed"')
    await press('Call')
    await bench.locator('.act-asked').getByLabel('colour').fill('red')
    await bench.locator('.act-asked').getByRole('button', { name: 'Accept' }).click()
    await answered('A red shed')
    await end(page, actor)
  })

  it('keeps forms, tab and responses while it is closed, and leaves a field before it closes', async () => {
    const { actor, page, bench, press, tool, answered } = await workbench()
    await tool('get-sum')
    await bench.getByLabel('a (required)').fill('2')
    await bench.getByLabel('b (required)').fill('x')
    await press('Call')
    await bench.locator('.act-field.is-invalid', { hasText: 'is not a number' }).waitFor()
    await bench.getByLabel('b (required)').fill('3')
    await page.keyboard.press('Enter')
    await answered('The sum of 2 and 3 is 5')
    await bench.getByLabel('Search tools').fill('structured')
    await bench.getByText('1 of').waitFor()
    await bench.getByLabel('location (required)').selectOption('Chicago')
    await press('Call')
    await bench.locator('.act-answers', { hasText: 'structured content' }).waitFor()
    await bench.getByLabel('Search tools').fill('')
    await page.keyboard.press('Escape')
    await bench.waitFor()
    await page.keyboard.press('Escape')
    await bench.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Workbench' }).click()
    await bench.locator('.act-answers', { hasText: 'structured content' }).waitFor()
    await tool('get-sum')
    await answered('The sum of 2 and 3 is 5')
    expect(await bench.getByLabel('a (required)').inputValue()).toBe('2')
    await end(page, actor)
  })

  it('sends a request of a recording that has ended again, and saves it, from its row', async () => {
    await record()
    const { actor, page } = await ui(join(recordings(), readdirSync(recordings())[0]!))
    const menu = async (name: string): Promise<void> => {
      await page.locator('.row', { hasText: 'tools/call' }).first().click({ button: 'right' })
      await page.getByRole('menuitem', { name }).click()
    }
    const box = page.locator('.act-box')
    await menu('Save the call…')
    expect(await page.getByRole('menuitem', { name: /Override|Note/ }).count()).toBe(0)
    await box.getByRole('button', { name: 'Save the call' }).click()
    await page.locator('.notice', { hasText: 'saved: ' }).waitFor()
    expect(readFileSync(play.path('calls/calls.yaml'), 'utf8')).toContain('Echo: hi')
    expect(await seriousFindings(page)).toEqual([])
    await box.getByRole('button', { name: 'Close' }).click()

    await menu('Send again…')
    await box.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByRole('button', { name: 'Start and connect' }).click()
    const bench = page.locator('.act-bench')
    const message = bench.getByLabel('message (required)')
    await message.waitFor()
    await until('it is filled in', async () => (await message.inputValue()) === 'hi')
    await bench.getByRole('button', { name: 'Call', exact: true }).click()
    await bench.locator('.act-answers', { hasText: 'Echo: hi' }).waitFor()
    await end(page, actor)
  })

  it('runs nothing of a recording that was made elsewhere: its command is for copying', async () => {
    const call = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    writeFileSync(join(recordings(), 'elsewhere.jsonl'), tapeOf([messageLine('in', call)], 'elsewhere'))
    const { actor, page } = await ui()
    await page.getByRole('button', { name: 'Connect to the server of elsewhere' }).click()
    const box = page.locator('.act-box')
    await box.getByText('cannot verify that you recorded this').waitFor()
    expect(await box.locator('pre').textContent()).toBe('node server.js')
    expect(await box.getByRole('button').allTextContents()).toEqual(['Close', 'Copy'])
    await end(page, actor)
  })
})
