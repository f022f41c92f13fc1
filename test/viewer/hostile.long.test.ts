import { describe, expect, it } from 'vitest'
import { holds, read } from './on-the-page.js'
import { hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

const markup =
  '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><svg onload="window.pwned=1">'
const escapes = '\u001b]0;owned\u0007\u001b[2J\u202egnp.exe\u0000'

describe.skipIf(!hasBrowser)('content that means harm', () => {
  const stage = useViewer()

  it('is text wherever it stands, and nothing of it is loaded or run', async () => {
    const text = JSON.stringify(markup + escapes)
    const lines = [
      messageLine(
        'in',
        `{"jsonrpc":"2.0","id":${text},"method":${text},"params":{"name":${text},${text}:${text}}}`,
      ),
      messageLine(
        'in',
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"u":"javascript:window.pwned=1","v":"https://evil.example/x"}}}`,
      ),
      messageLine(
        'out',
        `{"jsonrpc":"2.0","id":9,"result":{"content":[{"type":"text","text":${text}},{"type":"image","mimeType":"image/svg+xml","data":"PHN2Zy8+"},{"type":"image","mimeType":"image/png","data":"x\\" onerror=\\"window.pwned=1"},{"type":"resource_link","uri":"javascript:window.pwned=1","name":${text}},{"type":"resource","resource":{"uri":"https://evil.example/r","mimeType":"text/html","text":${text}}}]}}`,
      ),
      messageLine('out', `{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":${text},"data":${text}}}`),
      `{"type":"noise","t":"2026-08-01T10:00:01.000Z","us":1,"dir":"out","text":${text}}`,
      `{"type":"stderr","t":"2026-08-01T10:00:01.000Z","us":1,"text":${text}}`,
      `{"type":"gap","t":"2026-08-01T10:00:01.000Z","us":1,"lost":1,"why":${text}}`,
    ]
    stage.serve('/hostile.jsonl', tapeOf(lines, markup + escapes))
    const page = await stage.open('/?trace=hostile.jsonl')
    const outside: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(stage.url) && !request.url().startsWith('data:'))
        outside.push(request.url())
    })
    await read(page, 7)
    for (let i = 0; i < 7; i += 1) {
      await page.keyboard.press('j')
      await page.locator('.message').first().waitFor()
      for (const mode of await page.locator('.modes button').all()) await mode.click()
    }
    for (const view of ['2', '3', '1']) {
      await page.keyboard.press(view)
      await page.locator({ 1: '.row', 2: '.arrow-row', 3: '.grid' }[view]!).first().waitFor()
    }
    await page.keyboard.press('i')
    await page.locator('dialog').waitFor()
    expect(await page.evaluate('window.pwned')).toBeUndefined()
    expect(await page.locator('#app script, #app svg[onload], #app img[onerror]').count()).toBe(0)
    expect(await page.locator('a[href^="javascript:" i], img[src^="data:image/svg"]').count()).toBe(0)
    expect(outside).toEqual([])
    // Nothing turns the direction of reading around or hides.
    expect(
      await page.evaluate(
        `/[\\u0000-\\u0008\\u001b\\u202e]/.test(document.querySelector('#app').textContent)`,
      ),
    ).toBe(false)
    // Nor in its title, and in tooltips.
    const said = await page.evaluate<string[]>(
      `[document.title, ...[...document.querySelectorAll('[title], [aria-label]')]
        .flatMap((element) => [element.title, element.ariaLabel ?? ''])]`,
    )
    expect(said.join('')).toContain('owned')
    expect(said.filter((text) => /[\p{Cc}\p{Cf}]/u.test(text))).toEqual([])
  })

  it('may say times that no clock shows', async () => {
    const far = messageLine('in', '{"jsonrpc":"2.0","id":1,"method":"far"}', { us: 1e300 })
    const near = messageLine('in', '{"jsonrpc":"2.0","id":2,"method":"near"}', { us: -1e18 })
    stage.serve('/times.jsonl', tapeOf([far, near], 'times'))
    const page = await stage.open('/?trace=times.jsonl')
    await read(page, 2)
    for (const name of ['far', 'near']) {
      await page.locator('.row', { hasText: name }).click()
      await page.locator('.detail-head', { hasText: /10:00:00\.\d+ UTC/ }).waitFor()
    }
    await page.keyboard.press('2')
    await page.locator('.arrow-row').nth(1).waitFor()
    expect(await page.locator('.arrow-time').allTextContents()).toEqual([
      expect.stringMatching(/^0\.\d{3}$/),
      expect.stringMatching(/^0\.\d{3}$/),
    ])
  })

  it('may be many blocks: as many are drawn as one looks at', async () => {
    const content = Array.from({ length: 20_000 }, (_, i) => ({ type: 'text', text: `block ${i}` }))
    stage.serve(
      '/blocks.jsonl',
      tapeOf([messageLine('out', JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content } }))], 'blocks'),
    )
    const page = await stage.open('/?trace=blocks.jsonl')
    await read(page, 1)
    await page.keyboard.press('j')
    await page.locator('.blocks > .button', { hasText: 'Show 100 more of 20,000 blocks' }).click()
    await page.locator('.block', { hasText: 'block 199' }).waitFor()
    expect(await page.locator('.block').count()).toBe(200)
  })

  it('leads outside only by links that say where, and tell nobody where from', async () => {
    stage.serve(
      '/link.jsonl',
      tapeOf([
        messageLine(
          'in',
          '{"jsonrpc":"2.0","id":1,"method":"m","params":{"u":"https://good.example@evil.example/x?y=1"}}',
        ),
      ]),
    )
    const page = await stage.open('/?trace=link.jsonl')
    await read(page, 1)
    await page.keyboard.press('j')
    const link = page.locator('a.link')
    await link.waitFor()
    expect(await link.getAttribute('href')).toBe('https://good.example@evil.example/x?y=1')
    expect(await link.textContent()).toBe('https://good.example@evil.example/x?y=1')
    expect(await link.getAttribute('rel')).toContain('noreferrer')
    expect(await link.getAttribute('title')).toBe('Opens evil.example in a new tab')
  })

  it('may be huge: it is shown on demand, and the page stays usable', async () => {
    const huge = 'x'.repeat(50 * 1024 * 1024)
    const lines = [
      messageLine('out', `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${huge}"}}`),
      messageLine('in', '{"jsonrpc":"2.0","id":1,"method":"ping"}'),
    ]
    stage.serve('/huge.jsonl', tapeOf(lines, 'huge'))
    const page = await stage.open('/?trace=huge.jsonl')
    await read(page, 2)
    await page.keyboard.press('j')
    await page.locator('.message.large', { hasText: /52 MB/ }).waitFor()
    await page.locator('.message.large button').click()
    await page.locator('.json .node .node .twist').last().click()
    await page.locator('.json .string', { hasText: 'xxx' }).waitFor()
    await page.keyboard.press('j')
    await page.locator('.detail-head', { hasText: 'ping' }).waitFor()
  })

  it('may be deep: no level is drawn before it is unfolded', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    stage.serve(
      '/deep.jsonl',
      tapeOf([messageLine('in', `{"jsonrpc":"2.0","id":1,"method":"m","params":${deep}}`)], 'deep'),
    )
    const page = await stage.open('/?trace=deep.jsonl')
    await read(page, 1)
    await page.keyboard.press('j')
    await page.locator('.json .node').first().waitFor()
    await page.fill('[data-find=detail]', ']')
    await holds(page, `document.querySelectorAll('.json .node').length < 2000`)
  })
})
