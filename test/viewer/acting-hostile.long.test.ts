import { mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  cli,
  createStage as createPlayStage,
  printed,
  server,
  type Actor,
  type Stage as PlayStage,
} from '../behaviour/stage.js'
import { createStage, expectQuiet, hasBrowser, picture, seriousFindings, type Stage } from './stage.js'

describe.skipIf(!hasBrowser)('a server that wants to act on the page', () => {
  let stage: Stage
  let play: PlayStage
  let trap: Server
  let caught: string[]
  beforeAll(async () => {
    stage = await createStage()
  })
  afterAll(() => stage.close())
  beforeEach(async () => {
    stage.complaints.length = 0
    caught = []
    play = createPlayStage()
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
    await play.close()
  })

  const injecting = (): string[] => [
    ...server('injecting-mcp.mjs'),
    String((trap.address() as AddressInfo).port),
  ]

  async function ui(...files: string[]): Promise<{ actor: Actor; page: Page; outside: string[] }> {
    const actor = play.start([process.execPath, cli, 'ui', '--no-open', ...files])
    await printed(actor, 'Ctrl+C')
    const url = /viewer: (\S+)/.exec(actor.stdout().toString())![1]!
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

  async function end({ actor, page, outside }: Awaited<ReturnType<typeof ui>>): Promise<void> {
    expect(outside).toEqual([])
    expect(caught).toEqual([])
    expectQuiet(stage)
    await page.context().close()
    actor.child.kill('SIGTERM')
    await actor.ended
  }

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
    expect(await bench.locator('.act-tab .act-field input').count()).toBe(99)
    await more('Show 100 more of 151 fields')
    expect(await bench.locator('.act-tab .act-field input').count()).toBe(199)
    await picture(page, 'injecting-many')
    await more('Call')
    const answer = bench.locator('.act-answers')
    await answer.getByText('block 99', { exact: true }).waitFor()
    expect(await answer.getByText(/^block \d+$/).count()).toBe(100)
    await more('Show 100 more of 150 blocks')
    await answer.getByText('block 199', { exact: true }).waitFor()
    await tool.selectOption('tool 0')
    await more('Call')
    await more('Show 5 more of 5 requests')
    await bench.locator('.act-asked').nth(24).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await end(opened)
  })
})
