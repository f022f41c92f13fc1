import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  cli,
  createStage as createPlayStage,
  printed,
  server,
  type Stage as PlayStage,
} from '../behaviour/stage.js'
import { everythingOnStdio, startEverything } from '../clients/everything.js'
import { picture, seriousFindings } from './looks.js'
import { holds, rows } from './on-the-page.js'
import { hasBrowser, useViewer } from './stage.js'

/** Calls that a person might make to the server. */
async function converse(transport: Transport): Promise<void> {
  const client = new Client({ name: 'viewer-test', version: '1' }, { capabilities: { sampling: {} } })
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant',
    content: { type: 'text', text: 'sampled' },
  }))
  await client.connect(transport)
  await client.listTools()
  await client.callTool({ name: 'echo', arguments: { message: 'hello viewer' } })
  await client.callTool({ name: 'get-tiny-image' })
  await client.callTool({ name: 'get-resource-links', arguments: { count: 2 } }).catch(() => undefined)
  await client
    .callTool({ name: 'get-structured-content', arguments: { location: 'Chicago' } })
    .catch(() => undefined)
  await client.callTool(
    { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } },
    undefined,
    { onprogress: () => undefined },
  )
  await client
    .callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'x' } })
    .catch(() => undefined)
  await client.callTool({ name: 'no-such-tool' }).catch(() => undefined)
  await client.readResource({ uri: 'demo://nothing' }).catch(() => undefined)
  await client.close()
}

/** Reads until no more rows arrive, however often a server repeats a message. */
const whole = (page: Page): Promise<void> =>
  holds(
    page,
    `/· [1-9][\\d,]* message/.test(document.querySelector('.status-bar')?.textContent ?? '') && !document.querySelector('.status-bar progress')`,
  )

describe.skipIf(!hasBrowser)('recordings of real servers', () => {
  const stage = useViewer()
  let play: PlayStage

  beforeAll(async () => {
    play = createPlayStage()
    const stdio = join(play.folder, 'stdio')
    await converse(
      new StdioClientTransport({
        command: process.execPath,
        args: [cli, 'record', '--out', stdio, '--label', 'stdio', '--', ...everythingOnStdio],
        stderr: 'ignore',
      }),
    )
    const http = join(play.folder, 'http')
    await recordUrl(await startEverything('streamableHttp'), http, 'http', (url) =>
      converse(new StreamableHTTPClientTransport(new URL(url))),
    )
    const modern = play.start(server('sdk-modern-http.mjs'))
    await printed(modern, '\n')
    const modernOut = join(play.folder, 'modern')
    await recordUrl(modern.stdout().toString().split('\n')[0]!, modernOut, 'modern', async (url) => {
      const client = new ModernClient(
        { name: 'viewer-test', version: '2' },
        { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } },
      )
      await client.connect(new ModernTransport(new URL(url)))
      await client.listTools()
      await client
        .callTool({ name: 'echo', arguments: { text: 'hello', place: 'here' } })
        .catch(() => undefined)
      await client.close()
    })
    for (const name of ['stdio', 'http', 'modern']) {
      const folder = join(play.folder, name)
      const file = join(
        folder,
        readdirSync(folder).find((one) => one.endsWith('.jsonl'))!,
      )
      stage.serve(`/${name}.jsonl`, { file })
    }
  })
  afterAll(async () => {
    await play.close()
  })

  async function recordUrl(
    upstream: string,
    out: string,
    label: string,
    use: (url: string) => Promise<void>,
  ): Promise<void> {
    const recorder = play.start(
      [process.execPath, cli, 'record', '--url', upstream, '--out', out, '--label', label],
      { detached: true },
    )
    await printed(recorder, '\n')
    await use(recorder.stdout().toString().trim())
    recorder.child.kill('SIGTERM')
    await recorder.ended
  }

  const sizes = [
    { width: 1440, height: 900 },
    { width: 1280, height: 720 },
  ]

  it('show every exchange as a row, unfold it, and show both sides', async () => {
    const page = await stage.open('/?trace=stdio.jsonl')
    await whole(page)
    const all = await rows(page)
    expect(all).toEqual(
      expect.arrayContaining([
        'initialize ok',
        'tools/list ok',
        'tools/call echo ok',
        'tools/call get-tiny-image ok',
        'tools/call no-such-tool tool error',
        'resources/read demo://nothing -32602',
      ]),
    )
    await page.locator('.row', { hasText: 'trigger-long-running-operation' }).click()
    await page.keyboard.press('e')
    await page.locator('.row.nested', { hasText: 'notifications/progress' }).first().waitFor()
    await page.locator('.steps li', { hasText: 'notifications/progress' }).first().waitFor()
    await page.keyboard.press(']')
    await page.locator('.row.selected.nested', { hasText: 'result of tools/call' }).waitFor()
    await page.keyboard.press('[')
    await page.keyboard.press('n')
    await page.locator('.row.selected', { hasText: 'no-such-tool' }).waitFor()
    await page.locator('.row', { hasText: 'tools/call echo' }).locator('.name').first().click()
    await page.locator('.block.text', { hasText: 'Echo: hello viewer' }).waitFor()
  })

  it('draw images, and name links with where they lead', async () => {
    const page = await stage.open('/?trace=stdio.jsonl')
    await whole(page)
    await page.locator('.row', { hasText: 'tools/call get-tiny-image' }).click()
    await page.locator('.block.media', { hasText: /image\/png .* \d+ × \d+/ }).waitFor()
    await picture(page, 'image')
    await page.locator('.row', { hasText: 'tools/call get-resource-links' }).click()
    await page.locator('.block.resource .uri, .block.resource .link').first().waitFor()
    await page.locator('.row', { hasText: 'tools/call get-structured-content' }).click()
    await page.locator('.block-kind', { hasText: 'structured content' }).waitFor()
  })

  it('show HTTP, its headers and its events around a message', async () => {
    const page = await stage.open('/?trace=http.jsonl')
    await whole(page)
    await page.locator('.row', { hasText: 'tools/call' }).first().click()
    await page
      .locator('.around summary', { hasText: /HTTP exchange \d+ · POST/ })
      .first()
      .click()
    await page
      .locator('.headers th', { hasText: /content-type/i })
      .first()
      .waitFor()
    await page.locator('.around', { hasText: 'Server-sent event' }).first().waitFor()
    // The headers of the answer came before its first event, in a line of their own.
    const answered = page.locator('.message.from-server .around details').first()
    await answered.locator('summary').click()
    await answered.locator('td', { hasText: 'text/event-stream' }).waitFor()
    expect((await rows(page)).filter((row) => row.startsWith('POST'))).toEqual([])
    await page.keyboard.press('e')
    await page.locator('.row.nested', { hasText: 'POST /mcp' }).waitFor()
    await picture(page, 'http')
  })

  it('tell a session of 2026-07-28', async () => {
    const page = await stage.open('/?trace=modern.jsonl')
    await whole(page)
    await page.locator('.status-bar', { hasText: '2026-07-28' }).waitFor()
    await page.locator('.row', { hasText: 'tools/call echo' }).waitFor()
  })

  it('filter, highlight and clear', async () => {
    const page = await stage.open('/?trace=stdio.jsonl')
    await whole(page)
    await page.keyboard.press('/')
    await page.keyboard.type('tool:ec')
    await page.locator('#filter-options li', { hasText: 'echo' }).waitFor()
    await page.keyboard.press('Tab')
    await holds(page, `document.querySelectorAll('.list .scroller .row').length === 1`)
    expect(await rows(page)).toEqual(['tools/call echo ok'])
    await page.fill('[data-find=filter]', 'tool:')
    await page.locator('#filter-options li', { hasText: 'get-tiny-image' }).waitFor()
    expect(await page.locator('.filter-field.is-faulty').count()).toBe(0)
    await page.fill('[data-find=filter]', 'latency:>soon')
    await page.locator('.filter-field.is-faulty').waitFor()
    await page.locator('.drop-down .fault').waitFor()
    await page.locator('.status-bar', { hasText: 'invalid filter: the rows still match tool:' }).waitFor()
    await page.fill('[data-find=filter]', 'hello')
    await holds(page, `document.querySelector('.slot-filter .count')?.textContent === '2'`)
    expect(await rows(page)).toEqual(['tools/call echo ok'])
    await page.locator('.button', { hasText: 'Clear' }).click()
    await page.fill('[data-find=highlight]', '~/h.llo viewer/')
    await page.locator('.row.highlighted', { hasText: 'echo' }).waitFor()
    expect(await page.locator('.row.highlighted').count()).toBe(1)
  })

  it('show only a stretch of time that is marked on the timeline', async () => {
    const page = await stage.open('/?trace=stdio.jsonl')
    await whole(page)
    const all = (await rows(page)).length
    const box = (await page.locator('.timeline canvas').boundingBox())!
    await page.mouse.move(box.x + box.width * 0.96, box.y + 30)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.999, box.y + 30, { steps: 4 })
    await page.mouse.up()
    await page.locator('.brush').waitFor()
    expect((await rows(page)).length).toBeLessThan(all)
    await page.locator('.button', { hasText: 'Clear' }).click()
    await holds(page, `document.querySelectorAll('.list .scroller .row').length === ${all}`)
  })

  it('sort tools by any column, and list what is offered', async () => {
    const page = await stage.open('/?trace=stdio.jsonl#view=tools')
    await page.locator('.grid tbody tr').first().waitFor()
    const first = (): Promise<string | null> => page.locator('.grid tbody tr th').first().textContent()
    await page.locator('.grid thead button', { hasText: 'errors' }).click()
    // The table counts again while the recording is read.
    await expect.poll(first, { timeout: 20_000 }).toMatch(/no-such-tool|demo:\/\/nothing/)
    await page.locator('.grid thead button', { hasText: 'slowest' }).click()
    await expect.poll(first, { timeout: 20_000 }).toMatch(/initialize|trigger-long-running-operation/)
    await page.locator('.offer-list summary', { hasText: 'get-tiny-image' }).click()
    await page.locator('.tool-facts summary', { hasText: 'Definition as JSON' }).click()
    await page.locator('.tool-facts details[open] .json').waitFor()
  })

  it('show what was changed beside what arrived', async () => {
    const rules = join(play.folder, 'rules.json')
    const rule = {
      name: 'safe',
      when: 'tool:echo is:request',
      set: { '$.params.arguments.message': 'changed' },
    }
    writeFileSync(rules, JSON.stringify({ rules: [rule] }))
    const out = join(play.folder, 'modified')
    const client = new Client({ name: 'viewer-test', version: '1' })
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [cli, 'record', '--out', out, '--rules', rules, '--', ...everythingOnStdio],
        stderr: 'ignore',
      }),
    )
    await client.callTool({ name: 'echo', arguments: { message: 'hello viewer' } })
    await client.close()
    stage.serve('/modified.jsonl', {
      file: join(
        out,
        readdirSync(out).find((one) => one.endsWith('.jsonl'))!,
      ),
    })
    const page = await stage.open('/?trace=modified.jsonl')
    await page.locator('.row', { hasText: 'tools/call echo' }).locator('.tag.modified').waitFor()
    await page.locator('.row', { hasText: 'tools/call echo' }).click()
    await page.locator('.original .before', { hasText: '"hello viewer"' }).waitFor()
    await page.locator('.original .after', { hasText: '"changed"' }).waitFor()
    await page.locator('.around', { hasText: 'rule safe' }).waitFor()
    await page.locator('.block.text', { hasText: 'Echo: changed' }).waitFor()
    await picture(page, 'modified')
  })

  it('copy a message in every form', async () => {
    const page = await stage.open('/?trace=stdio.jsonl', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await whole(page)
    await page.locator('.row', { hasText: 'tools/call echo' }).click()
    await page.evaluate(`navigator.clipboard.writeText('')`)
    const copied = async (form: string): Promise<string> => {
      await page.locator('.menu > .button').click()
      await page.locator('.menu-list button', { hasText: form }).click()
      // A notice of before may still be there: the text itself tells.
      await holds(page, `navigator.clipboard.readText().then((text) => text !== '')`)
      const text = await page.evaluate<string>('navigator.clipboard.readText()')
      await page.evaluate(`navigator.clipboard.writeText('')`)
      return text
    }
    const json = await copied('as JSON-RPC')
    expect(JSON.parse(json)).toMatchObject({ method: 'tools/call', params: { name: 'echo' } })
    // A server on stdio has no address.
    await page.locator('.menu > .button').click()
    await page.locator('.menu-list button', { hasText: 'as Markdown' }).waitFor()
    expect(await page.locator('.menu-list button', { hasText: 'as cURL' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    expect(await copied('as wiretape replay')).toMatch(/^wiretape replay stdio\.jsonl --filter seq:\d+ -- /)
    expect(await copied('as Markdown')).toMatch(/### tools\/call echo\n\n```json\n\{\n  "/)
  })

  it('are written in other formats', async () => {
    const page = await stage.open('/?trace=stdio.jsonl')
    await whole(page)
    await page.keyboard.press('w')
    const download = page.waitForEvent('download')
    await page.locator('.exports button', { hasText: 'session' }).first().click()
    expect((await download).suggestedFilename()).toBe('stdio.json')
  })

  it('are reached with keys alone', async () => {
    const page = await stage.open('/?trace=stdio.jsonl')
    await whole(page)
    await page.keyboard.press('?')
    await page.locator('.help dd', { hasText: 'Next error' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await holds(page, `document.activeElement?.matches('.palette input') === true`)
    await page.keyboard.type('sequence')
    await page.keyboard.press('Enter')
    await page.locator('.arrow-row').first().waitFor()
    await page.keyboard.press('G')
    await page.locator('.arrow-row.selected').waitFor()
  })

  it.each(['light', 'dark'] as const)(
    'have no serious fault for axe, and pictures of every view, in %s',
    async (colorScheme) => {
      const findings: Record<string, string[]> = {}
      // Only colours are different.
      const rule = colorScheme === 'dark' ? 'color-contrast' : undefined
      const page = await stage.open('/', { colorScheme })
      expect(await page.locator('h1').count()).toBe(1)
      findings['landing'] = await seriousFindings(page, rule)
      await picture(page, `landing-${colorScheme}`)
      await page.goto(`${stage.url}/?trace=stdio.jsonl;http.jsonl`)
      await whole(page)
      await page.locator('.row', { hasText: 'tools/call echo' }).first().click()
      await page.locator('.block.text').waitFor()
      expect(await page.locator('h1').count()).toBe(1)
      await page.fill('[data-find=highlight]', 'echo')
      await page.locator('.row.highlighted').first().waitFor()
      await page.keyboard.press('Escape')
      for (const [view, key] of [
        ['messages', '1'],
        ['sequence', '2'],
        ['tools', '3'],
        ['compare', '4'],
      ] as const) {
        await page.keyboard.press(key)
        await page
          .locator(
            { messages: '.row', sequence: '.arrow-row', tools: '.offer-list summary', compare: '.verdicts' }[
              view
            ],
          )
          .first()
          .waitFor()
        findings[view] = await seriousFindings(page, rule)
        for (const size of sizes) {
          await page.setViewportSize(size)
          await picture(page, `${view}-${colorScheme}`)
        }
      }
      await page.keyboard.press('1')
      for (const [name, key] of [
        ['help', '?'],
        ['palette', 'Control+k'],
        ['session', 'i'],
        ['export', 'w'],
      ] as const) {
        await page.keyboard.press(key)
        await page.locator('dialog').waitFor()
        findings[name] = await seriousFindings(page, rule)
        await picture(page, `${name}-${colorScheme}`)
        await page.keyboard.press('Escape')
        await page.locator('dialog').waitFor({ state: 'detached' })
      }
      await page.fill('[data-find=filter]', 'latency:>x')
      findings['fault'] = await seriousFindings(page, rule)
      await picture(page, `fault-${colorScheme}`)
      expect(
        Object.entries(findings).flatMap(([name, found]) => found.map((text) => `${name}: ${text}`)),
      ).toEqual([])
      await page.context().close()
    },
    60_000,
  )
})
