import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { picture, seriousFindings } from './looks.js'
import { holds, read, rows } from './on-the-page.js'
import { hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

const idOf = (line: string): string => (JSON.parse(line) as { id: string }).id

function exchange(id: number, method: string, params: object, result: object): string[] {
  const asked = messageLine('in', JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  return [asked, messageLine('out', JSON.stringify({ jsonrpc: '2.0', id, result }), { corr: idOf(asked) })]
}

/** How many dots of the timeline have the colour that the style sheet calls so. */
function dotsOf(page: Page, ink: string): Promise<number> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('.timeline canvas')
    const probe = document.createElement('canvas').getContext('2d')
    probe.fillStyle = getComputedStyle(canvas).getPropertyValue('${ink}').trim()
    probe.fillRect(0, 0, 1, 1)
    const [r, g, b] = probe.getImageData(0, 0, 1, 1).data
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    let dots = 0
    for (let i = 0; i < data.length; i += 4)
      if (data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255) dots += 1
    return dots
  })()`)
}

describe.skipIf(!hasBrowser)('what a tape has besides messages', () => {
  const stage = useViewer()

  it('shows notes with the message that they are about, and on the timeline', async () => {
    const [asked, answer] = exchange(1, 'tools/call', { name: 'search' }, { content: [] })
    const about = JSON.stringify(idOf(answer!))
    stage.serve(
      '/notes.jsonl',
      tapeOf([
        asked!,
        answer!,
        ...exchange(2, 'tools/list', {}, { tools: [] }),
        `{"type":"note","t":"2026-08-01T10:00:01.000Z","us":1000000,"text":"here it goes wrong","about":${about}}`,
        `{"type":"note","t":"2026-08-01T10:00:02.000Z","us":2000000,"text":"and that was all"}`,
      ]),
    )
    const page = await stage.open('/?trace=notes.jsonl')
    await holds(page, `document.querySelectorAll('.list .scroller .row').length === 3`)
    expect(await rows(page)).toEqual(['tools/call search ok', 'tools/list ok', 'note and that was all'])
    expect(await page.locator('.row .tag.noted').count()).toBe(1)
    expect(await dotsOf(page, '--accent')).toBeGreaterThan(10)
    await page.locator('.row', { hasText: 'search' }).click()
    await page.locator('.message.note', { hasText: 'here it goes wrong' }).waitFor()
    await page.locator('.steps li', { hasText: 'here it goes wrong' }).waitFor()
    await page.keyboard.press('e')
    await page.locator('.row.nested', { hasText: 'here it goes wrong' }).waitFor()
    await picture(page, 'notes')
    await page.fill('[data-find=filter]', 'goes wrong')
    await holds(page, `document.querySelector('.slot-filter .count')?.textContent === '1'`)
    await page.keyboard.press('Escape')
    await page.keyboard.press('2')
    await page.locator('.arrow-row .beside', { hasText: 'here it goes wrong' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
  })

  it('shows what was lost as a row and on the timeline', async () => {
    const gap =
      '{"type":"gap","t":"2026-08-01T10:00:01.000Z","us":1000000,"lost":12,"bytes":4096,"why":"disk full"}'
    stage.serve('/gap.jsonl', tapeOf([...exchange(1, 'ping', {}, {}), gap]))
    const page = await stage.open('/?trace=gap.jsonl')
    await read(page, 3)
    expect(await rows(page)).toEqual(['ping ok', 'gap 12 messages not recorded: disk full'])
    expect(await dotsOf(page, '--changed')).toBeGreaterThan(20)
    await page.keyboard.press('n')
    await page.locator('.detail .failure', { hasText: '12 messages, 4.1 kB. disk full' }).waitFor()
  })

  it('leads from a link to a resource to where it was read', async () => {
    const link = { type: 'resource_link', uri: 'demo://one', name: 'one' }
    const other = { ...link, uri: 'https://example.com/two', name: 'two' }
    stage.serve(
      '/links.jsonl',
      tapeOf([
        ...exchange(1, 'tools/call', { name: 'links' }, { content: [link, other] }),
        ...exchange(
          2,
          'resources/read',
          { uri: 'demo://one' },
          { contents: [{ uri: 'demo://one', text: '1st' }] },
        ),
      ]),
    )
    const page = await stage.open('/?trace=links.jsonl')
    await read(page, 4)
    await page.keyboard.press('j')
    await page.locator('.block.resource').nth(1).waitFor()
    expect(await page.locator('.block.resource a').getAttribute('href')).toBe('https://example.com/two')
    expect(await page.locator('.to-read').count()).toBe(1)
    await page.locator('.to-read', { hasText: /^read at 0\.0/ }).click()
    await page.locator('.row.selected', { hasText: 'resources/read demo://one' }).waitFor()
    await page.locator('.block.text', { hasText: '1st' }).waitFor()
  })

  it('plays sound, and nothing that only says it is one', async () => {
    // The head of a WAVE file and two samples.
    const wave = Buffer.concat([
      Buffer.from('RIFF'),
      Buffer.from([40, 0, 0, 0]),
      Buffer.from('WAVEfmt '),
      Buffer.from([16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x80, 0x3e, 0, 0, 2, 0, 16, 0]),
      Buffer.from('data'),
      Buffer.from([4, 0, 0, 0, 0, 0, 0, 0]),
    ])
    const content = [
      { type: 'audio', mimeType: 'audio/wav', data: wave.toString('base64') },
      { type: 'audio', mimeType: 'text/html', data: 'PGI+' },
    ]
    stage.serve('/sound.jsonl', tapeOf(exchange(1, 'tools/call', { name: 'say' }, { content })))
    const page = await stage.open('/?trace=sound.jsonl')
    await read(page, 2)
    await page.keyboard.press('j')
    await page.locator('.block.media', { hasText: 'audio · audio/wav · 48 B' }).waitFor()
    await holds(page, `document.querySelector('audio')?.duration > 0`)
    expect(await page.locator('audio').count()).toBe(1)
    await page.getByText('Cannot show: unsupported type').waitFor()
  })

  it('leaves out of the latency of a call for how long its server waited for the client, and says so', async () => {
    const raw = (more: object): string => JSON.stringify({ jsonrpc: '2.0', ...more })
    const id = (line: string): string => (JSON.parse(line) as { id: string }).id
    const asks = messageLine('in', raw({ id: 1, method: 'tools/call', params: { name: 'pay' } }), { us: 0 })
    const question = messageLine('out', raw({ id: 'q', method: 'elicitation/create', params: {} }), {
      us: 5e5,
    })
    const reply = raw({ id: 'q', result: { action: 'accept' } })
    const lines = [
      asks,
      question,
      messageLine('in', reply, { corr: id(question), us: 8.5e6 }),
      messageLine('out', raw({ id: 1, result: { content: [] } }), { corr: id(asks), us: 9.2e6 }),
    ]
    stage.serve('/waited.jsonl', tapeOf(lines, 'waited'))
    const page = await stage.open('/?trace=waited.jsonl')
    await read(page, 4)
    expect(await page.locator('.scroller .row .latency').allTextContents()).toEqual(['1.2 s', '8.0 s'])
    await page.locator('.row', { hasText: 'tools/call pay' }).click()
    await page.locator('.facts', { hasText: '1.2 s, plus 8.0 s waiting for the client' }).waitFor()
  })

  it('shows times that a recording does not say as unknown', async () => {
    const transcript = exchange(1, 'tools/call', { name: 'x' }, { content: [] })
      .map((line) => JSON.stringify((JSON.parse(line) as { raw: unknown }).raw))
      .join('\n')
    stage.serve('/said.jsonl', `${transcript}\n`)
    const page = await stage.open('/?trace=said.jsonl')
    await read(page, 2)
    await page.getByText('This recording has no timestamps').waitFor()
    expect(await page.locator('.row .time').allTextContents()).toContain('–')
    expect(await page.locator('.scroller .row .latency').allTextContents()).toEqual([''])
    await page.keyboard.press('j')
    await page.locator('.facts', { hasText: 'no time' }).waitFor()
    expect(await page.locator('.facts').textContent()).not.toMatch(/1970|0\.0 ms/)
    // Nor does it say whether anything was taken out.
    expect(await page.locator('.status-bar').textContent()).not.toContain('redacted')
    await page.keyboard.press('3')
    await page.locator('.grid tbody tr', { hasText: 'tools/call' }).waitFor()
    expect(await page.locator('.grid').textContent()).not.toContain('ms')
    await page.fill('[data-find=filter]', 'latency:<1s')
    await holds(page, `document.querySelector('.slot-filter .count')?.textContent === '0'`)
    await page.goto(`${stage.url}/?trace=said.jsonl;sound.jsonl`)
    await read(page, 4)
    // The other recording's times are not told from 1970.
    expect(await page.locator('.row .time').allTextContents()).toEqual([
      'time',
      '–',
      expect.stringMatching(/^0\./),
    ])
  })

  it('writes a recording in every format that we write', async () => {
    stage.serve('/out.jsonl', tapeOf(exchange(1, 'tools/call', { name: 'x' }, { content: [] }), 'out'))
    const page = await stage.open('/?trace=out.jsonl')
    const names: string[] = []
    for (let i = 0, count = 1; i < count; i += 1) {
      // A browser lets a page save ten files before it asks.
      if (i % 6 === 0) {
        await page.reload()
        await read(page, 2)
        await page.keyboard.press('w')
      }
      const buttons = page.locator('.exports button')
      await buttons.first().waitFor()
      count = await buttons.count()
      const button = buttons.nth(i)
      const download = page.waitForEvent('download')
      await button.click()
      const file = await download
      names.push(file.suggestedFilename())
      if (names.at(-1)!.endsWith('.html')) {
        const path = join(mkdtempSync(join(tmpdir(), 'wiretape-')), 'report.html')
        await file.saveAs(path)
        const opened = await stage.open('about:blank')
        await opened.goto(`file://${path}`)
        await read(opened, 2)
        expect(await rows(opened)).toEqual(['tools/call x ok'])
        await opened.context().close()
        rmSync(dirname(path), { recursive: true })
      }
    }
    expect(names).toEqual([
      'out.jsonl',
      'out.json',
      'out.jsonrpc.jsonl',
      'out.inspector.json',
      'out.har',
      'out.streamable-http.json',
      'out.http-sse.json',
      'out.assay-trace.jsonl',
      'out.otlp-json.json',
      'out.otlp-proto.pb',
      'out.otlp-metrics-json.json',
      'out.otlp-metrics-proto.pb',
      'out.md',
      'out.csv',
      'out.html',
    ])
  })
})
