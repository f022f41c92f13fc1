import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { picture, seriousFindings } from '../viewer/looks.js'
import { holds, read, rows } from '../viewer/on-the-page.js'
import { expectQuiet, hasBrowser, useViewer } from '../viewer/stage.js'
import { messageLine, tapeOf } from '../viewer/tapes.js'

const idOf = (line: string): string => (JSON.parse(line) as { id: string }).id

/** A call with a response, and one without. */
function callTape(label: string, said = 'found'): string {
  const asked = messageLine(
    'in',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"q":"größe"}}}',
  )
  const answer = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    result: { content: [{ type: 'text', text: said }] },
  })
  return tapeOf([asked, messageLine('out', answer, { corr: idOf(asked) })], label)
}

const overHttp = (tape: string): string =>
  tape
    .replace('"command":["node","server.js"]', '"command":[]')
    .replace('"transport":"stdio","url":null', '"transport":"streamable-http","url":"http://127.0.0.1:9/mcp"')

async function chooseFile(page: Page, path: string): Promise<void> {
  const chooser = page.waitForEvent('filechooser')
  await page
    .getByRole('button', { name: /Open file/ })
    .first()
    .click()
  await (await chooser).setFiles(path)
}

/** How many pixels of the timeline's lanes have a colour of their own. */
const drawn = `(() => {
  const canvas = document.querySelector('.timeline canvas')
  const { data } = canvas.getContext('2d').getImageData(0, 20 * devicePixelRatio, canvas.width, canvas.height - 22 * devicePixelRatio)
  const line = getComputedStyle(canvas).getPropertyValue('--line').trim()
  const of = [1, 3, 5].map((i) => parseInt(line.slice(i, i + 2), 16))
  let count = 0
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 100 && of.some((v, j) => Math.abs(v - data[i + j]) > 24)) count += 1
  return count
})()`

describe.skipIf(!hasBrowser)('the viewer', () => {
  const stage = useViewer()
  let folder = ''
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wiretape-opening-'))
    stage.serve('/a.jsonl', callTape('a'))
    stage.serve('/b.jsonl', callTape('b', 'gone'))
    stage.serve('/h.jsonl', overHttp(callTape('h')))
    stage.serve('/wide.jsonl', Buffer.from(`\ufeff${callTape('wide')}`, 'utf16le').toString('latin1'))
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
  })

  it('opens what each trace= of its address names', async () => {
    const page = await stage.open('/?trace=a.jsonl&trace=b.jsonl;h.jsonl')
    await read(page, 6)
    expect(await page.locator('.lane-name').allTextContents()).toEqual(['a', 'b', 'h'])
    await page.goto(`${stage.url}/?diff=a.jsonl&diff=b.jsonl`)
    await page.locator('.comparison', { hasText: 'tools/call search' }).waitFor()
  })

  it('reads UTF-16, packed too, and says so', async () => {
    const page = await stage.open('/')
    for (const [name, bytes] of [
      ['little.jsonl', Buffer.from(`\ufeff${callTape('little')}`, 'utf16le')],
      ['big.jsonl.gz', gzipSync(Buffer.from(callTape('big'), 'utf16le').swap16())],
    ] as const)
      writeFileSync(join(folder, name), bytes)
    await chooseFile(page, join(folder, 'little.jsonl'))
    await read(page, 2)
    expect(await rows(page)).toEqual(['tools/call search ok'])
    await page.locator('.row', { hasText: 'tools/call' }).click()
    await page.locator('.json', { hasText: 'größe' }).first().waitFor()
    await chooseFile(page, join(folder, 'big.jsonl.gz'))
    await read(page, 4)
    await page.locator('.status-bar button', { hasText: '2 problems' }).click()
    await page.locator('.problems li', { hasText: 'is UTF-16' }).first().waitFor()
  })

  it('works when its page is opened from disk', async () => {
    const disk = `file://${resolve(import.meta.dirname, '../../dist/viewer/index.html')}`
    const page = await stage.open(disk)
    writeFileSync(join(folder, 'a.jsonl'), callTape('a'))
    await chooseFile(page, join(folder, 'a.jsonl'))
    await read(page, 2)
    expect(await rows(page)).toEqual(['tools/call search ok'])
    // The worker has the engine for patterns, though it may not load it.
    await page.fill('[data-find=filter]', 'text:~/fo.nd/')
    await page.locator('.slot-filter .count:text-is("1")').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('w')
    const download = page.waitForEvent('download')
    await page.locator('.exports button', { hasText: 'session' }).first().click()
    expect((await download).suggestedFilename()).toBe('a.json')
    await page.locator('.exports button', { hasText: '.html' }).first().click()
    await page.locator('dialog .notice.bad', { hasText: 'wiretape convert' }).waitFor()
    expectQuiet(stage)
    await page.goto(`${disk}?trace=${encodeURIComponent(`file://${join(folder, 'a.jsonl')}`)}`)
    await page.locator('.notice', { hasText: 'Drop the file here' }).waitFor()
  })

  it('draws on the timeline the exchanges whose answers a filter matches', async () => {
    const page = await stage.open('/?trace=a.jsonl')
    await read(page, 2)
    await holds(page, `${drawn} > 0`)
    await page.fill('[data-find=filter]', 'is:result')
    await page.locator('.slot-filter .count:text-is("1")').waitFor()
    await holds(page, `${drawn} > 0`)
    await page.fill('[data-find=filter]', 'tool:nothing')
    await page.locator('.slot-filter .count:text-is("0")').waitFor()
    await holds(page, `${drawn} === 0`)
  })

  for (const scheme of ['light', 'dark'] as const) {
    for (const width of [1440, 390]) {
      it(`tells what happened in colours that can be read, above its dialogs (${scheme}, ${width} px)`, async () => {
        const page = await stage.open('/?trace=a.jsonl', {
          colorScheme: scheme,
          viewport: { width, height: 844 },
        })
        await read(page, 2)
        await page.keyboard.press('w')
        const download = page.waitForEvent('download')
        await page.locator('.exports button', { hasText: 'Markdown' }).first().click()
        await download
        const told = page.locator('dialog .notice.warn', { hasText: 'Wrote a.md.' })
        await told.waitFor()
        expect(await seriousFindings(page, 'color-contrast')).toEqual([])
        await picture(page, `notice-warn-${scheme}`)
        // The notice is there, and nothing above it.
        expect(
          await page.evaluate(`(() => {
            const box = document.querySelector('.notice').getBoundingClientRect()
            return document.elementFromPoint(box.left + 5, box.top + 5).className
          })()`),
        ).toContain('notice')
        await page.keyboard.press('Escape')
        await page.goto(`${stage.url}/?trace=http://elsewhere.invalid/x.jsonl`)
        await page.locator('.notice.bad').waitFor()
        expect(await seriousFindings(page, 'color-contrast')).toEqual([])
        await picture(page, `notice-bad-${scheme}`)
        await page.context().close()
      })
    }
  }

  it('copies commands that can be run: curl for servers with an address, replay with the place of the file', async () => {
    const page = await stage.open('/?trace=h.jsonl', { permissions: ['clipboard-read', 'clipboard-write'] })
    await read(page, 2)
    await page.locator('.row', { hasText: 'tools/call' }).click()
    const copied = async (form: string): Promise<string> => {
      await page.evaluate(`navigator.clipboard.writeText('')`)
      await page.locator('.menu > .button').click()
      await page.locator('.menu-list button', { hasText: form }).click()
      await holds(page, `navigator.clipboard.readText().then((text) => text !== '')`)
      return page.evaluate<string>('navigator.clipboard.readText()')
    }
    expect(await copied('as cURL')).toContain('--url http://127.0.0.1:9/mcp')
    expect(await copied('as wiretape replay')).toMatch(/^wiretape replay h\.jsonl --filter seq:\d+ --url=/)
    await page.locator('.notice', { hasText: 'run the command in its folder' }).waitFor()
  })
})
