import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { createLeafCertificates, makeAuthority } from '../../src/capture/trust/certificates.js'
import { seriousFindings } from './looks.js'
import { holds, keepNotices, read, rows, watchShifts } from './on-the-page.js'
import { hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

const request =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"q":"x"}}}'
const answer = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"found"}]}}'

/** A tape with one call. */
function callTape(label: string, text = answer): string {
  const asked = messageLine('in', request)
  const { id } = JSON.parse(asked) as { id: string }
  return tapeOf([asked, messageLine('out', text, { corr: id })], label)
}

/** Drops files on the page, as a person does. */
async function drop(page: Page, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  const list = Object.entries(files).map(
    ([name, content]) => [name, Buffer.from(content).toString('base64')] as const,
  )
  await page.evaluate(`{
    const transfer = new DataTransfer()
    for (const [name, data] of ${JSON.stringify(list)})
      transfer.items.add(new File([Uint8Array.from(atob(data), (char) => char.charCodeAt(0))], name))
    for (const type of ['dragenter', 'dragover', 'drop'])
      document.querySelector('.drop-area').dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }))
  }`)
}

const app = ['/?trace=a.jsonl', '/viewer.css', '/viewer.js', '/viewer.js']

describe.skipIf(!hasBrowser)('the static page', () => {
  const stage = useViewer()
  beforeAll(async () => {
    stage.serve('/a.jsonl', callTape('a'))
    stage.serve('/b.jsonl', callTape('b'))
    stage.serve('/c.jsonl', callTape('c', answer.replace('found', 'gone')))
  })
  beforeEach(() => {
    stage.requests()
  })

  it('asks for nothing but itself and the recordings it was told to open', async () => {
    const page = await stage.open('/?trace=a.jsonl')
    await read(page, 2)
    for (const key of ['j', 'e', '2']) await page.keyboard.press(key)
    await page.waitForSelector('.sequence .arrow-row')
    await page.keyboard.press('3')
    await page.waitForSelector('.tools-page table')
    for (const key of ['1', '?']) await page.keyboard.press(key)
    await page.waitForSelector('dialog.help[open]')
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog.help[open]', { state: 'detached' })
    await page.fill('[data-find=filter]', 'tool:~/se.rch/')
    await page.waitForSelector('.slot-filter .count:text-is("2")')
    await page.waitForSelector('.slot-filter.is-good')
    // Further views come with the first of them; the engine for patterns and comparing once for the page, once for its worker.
    const later = ['/views.js', '/patterns.js', '/patterns.js']
    expect(stage.requests().toSorted()).toEqual([...app, '/a.jsonl', ...later].toSorted())
  })

  it('asks for nothing at all when files are dropped on it, and reads each format', async () => {
    const page = await stage.open('/')
    stage.requests()
    await drop(page, { 'a.jsonl': callTape('a') })
    await read(page, 2)
    expect(await rows(page)).toEqual(['tools/call search ok'])
    await drop(page, { 'b.jsonl.gz': gzipSync(callTape('b')) })
    await read(page, 4)
    await page.getByText('Press 4 to compare').waitFor()
    const session = {
      version: 1,
      session: { id: '6f1b2c3d-0000-4000-8000-000000000000', started_at: '2026-08-01T10:00:00Z' },
    }
    await drop(page, { 'nothing.json': JSON.stringify(session) })
    await page.locator('.lane-tab.is-failed').waitFor()
    // The rules and further formats.
    expect(stage.requests().filter((path) => path !== '/patterns.js')).toEqual([])
  })

  it('merges several recordings by time, a lane and a tab for each', async () => {
    const page = await stage.open('/?trace=a.jsonl;b.jsonl')
    await read(page, 4)
    expect(await page.locator('.lane-name').allTextContents()).toEqual(['a', 'b'])
    expect(await page.locator('.lane-label').allTextContents()).toEqual(['a', 'b'])
    expect(await page.title()).toBe('a and 1 more · wiretape')
    await page.locator('.lane-tab', { hasText: 'b' }).click()
    expect(await rows(page)).toEqual(['tools/call search ok'])
    // Two recordings with one label are told apart, and each has errors of its own.
    stage.serve('/a2.jsonl', callTape('a', '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}'))
    await page.goto(`${stage.url}/?trace=a.jsonl;a2.jsonl`)
    await page.locator('.chip', { hasText: /^Errors1$/ }).waitFor()
    expect(await page.locator('.lane-name').allTextContents()).toEqual(['a · a', 'a2 · a'])
    await page.keyboard.press('2')
    await page.locator('.actor', { hasText: 'a2 · a' }).waitFor()
    await page.locator('.lane-tab', { hasText: 'a · a' }).first().click()
    await page.locator('.chip', { hasText: /^Errors$/ }).waitFor()
  })

  it('keeps everything within reach with many recordings of long names, and on a narrow screen', async () => {
    const names = Array.from({ length: 10 }, (_, i) => `many${i}`)
    const padding = `"${'x'.repeat(700_000)}"`
    for (const name of names) {
      // More than a connection holds back: none may wait for another to be read.
      const text = answer.replace('"found"', padding)
      stage.serve(`/${name}.jsonl`, callTape(`${name} of a server with a very long name`, text))
    }
    const page = await stage.open(`/?trace=${names.map((name) => `${name}.jsonl`).join(';')}`)
    await read(page, 20)
    const outside = `[...document.querySelectorAll('button')].filter((one) =>
      !one.closest('.lanes') && one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML)`
    for (const size of [
      { width: 1440, height: 900 },
      { width: 900, height: 700 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(size)
      expect(await page.evaluate(outside)).toEqual([])
      await page.locator('.lane-tab').last().click()
      await page.locator('.lane-tab[aria-pressed=true]', { hasText: 'many9' }).waitFor()
      await page.locator('.chip', { hasText: 'Errors' }).waitFor()
    }
  })

  it('says of recordings of different days how many days lie between', async () => {
    stage.serve('/later.jsonl', callTape('later').replaceAll('2026-08-01', '2026-11-21'))
    const page = await stage.open('/?trace=a.jsonl;later.jsonl')
    await read(page, 4)
    const times = page.locator('.scroller .row .time')
    expect(await times.last().textContent()).toMatch(/^112d 00:00:00\.\d{3}$/)
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.scroller .row .time')].every((one) => one.scrollWidth <= one.clientWidth)`,
      ),
    ).toBe(true)
    await page.locator('.lane-tab', { hasText: 'later' }).click()
    await page.locator('.scroller .row .time', { hasText: /^0\.\d{3}$/ }).waitFor()
  })

  it('moves nothing when the second recording arrives', async () => {
    const page = await stage.open('about:blank')
    await page.addInitScript(watchShifts)
    await page.goto(`${stage.url}/?trace=a.jsonl;b.jsonl`)
    await read(page, 4)
    expect(await page.evaluate('window.shifted')).toBeLessThan(0.005)
  })

  it('joins the segments of one session', async () => {
    const lines = callTape('a').trimEnd().split('\n')
    const end = (rotated: boolean): string =>
      `{"t":"2026-08-01T10:00:09.000Z","type":"end","exitCode":0,"durationMs":1,"wiretape":{"messages":1${rotated ? ',"rotated":true' : ''}}}`
    const first = [lines[0], lines[1], end(true)].join('\n')
    const second = [lines[0]!.replace('"segment":0', '"segment":1'), lines[2], end(false)].join('\n')
    const page = await stage.open('/')
    // The second first, and no line feed at the end of a file.
    await drop(page, { 'a.1.jsonl': second, 'a.jsonl': first })
    await read(page, 2)
    expect(await rows(page)).toEqual(['tools/call search ok'])
    expect(await page.locator('.lane-tab').count()).toBe(1)
    await page.keyboard.press('j')
    await page.getByText('found', { exact: true }).waitFor()
  })

  it('compares two recordings that the address names', async () => {
    const page = await stage.open('/?diff=a.jsonl;c.jsonl')
    await page.locator('.comparison').waitFor()
    expect(await page.locator('.comparison .verdict').allTextContents()).toEqual(['changed'])
    await page.locator('.comparison-head').click()
    await page.locator('.differences td.before', { hasText: '"found"' }).waitFor()
    await page.locator('.differences td.after', { hasText: '"gone"' }).waitFor()
  })

  it('says why two recordings cannot be compared', async () => {
    const page = await stage.open('/?diff=a.jsonl;missing.jsonl')
    await page.locator('.compare-page .failure', { hasText: 'missing.jsonl could not be fetched' }).waitFor()
    await page.getByText('A comparison needs two recordings. Only one is open').waitFor()
    await page.goto(`${stage.url}/?diff=a.jsonl`)
    await page.locator('.notice.bad', { hasText: 'A comparison needs two recordings' }).waitFor()
    // A recording that does not arrive differs from one that was not requested.
    await page.route('**/slow.jsonl', () => undefined)
    await page.goto(`${stage.url}/?trace=slow.jsonl`)
    await page
      .locator('.landing-card', { hasText: /^Opening.*slow\.jsonl.*Still waiting for the first bytes/ })
      .waitFor()
    await page.goto(`${stage.url}/?trace=%25`)
    await page.locator('.failure', { hasText: '% could not be fetched' }).waitFor()
  })

  it('shows again what the address bar says', async () => {
    const page = await stage.open('/?trace=a.jsonl;b.jsonl')
    await read(page, 4)
    await page.fill('[data-find=filter]', 'is:request')
    await page.keyboard.press('Escape')
    await page.locator('.lane-tab', { hasText: 'b' }).click()
    await page.locator('.scroller .row').first().click()
    await holds(page, 'location.hash.includes("row=2") && location.hash.includes("filter=")')
    const again = await stage.open(page.url())
    // Of the lane that is looked at.
    await read(again, 2)
    await again.waitForSelector('.detail-head h2')
    expect(await again.inputValue('[data-find=filter]')).toBe('is:request')
    expect(await again.locator('.lane-tab[aria-pressed=true]').textContent()).toContain('b')
    expect(await again.locator('.row.selected').count()).toBe(1)
    await again.keyboard.press('c')
    await again.keyboard.press('e')
    await again.locator('.row.nested').waitFor()
    await again.keyboard.press('3')
    await again.locator('.grid thead button', { hasText: 'p95' }).click()
    await holds(again, 'location.hash.includes("sort=p95Us") && location.hash.includes("open=2")')
    await again.reload()
    await again.locator('[aria-sort=descending]', { hasText: 'p95' }).waitFor()
    await again.keyboard.press('1')
    await again.locator('.row.nested').waitFor()
    // A lane that is not there hides nothing.
    await again.goto(`${again.url().replace(/#.*/, '')}#lane=44`)
    await again.reload()
    await again.locator('.status-bar', { hasText: '2 rows shown · 4 messages' }).waitFor()
    await page.context().close()
    await again.context().close()
  })

  it('says what is wrong with an address and what to do', async () => {
    stage.serve('/text.jsonl', 'hello\n')
    const cases = [
      ['/?trace=missing.jsonl', /responded with HTTP 404\. Check the URL/],
      ['/?trace=text.jsonl', /not a recording: its start matches no known format/],
    ] as const
    for (const [address, words] of cases) {
      const page = await stage.open(address)
      await page.locator('.list .failure', { hasText: words }).waitFor()
      await page.locator('.lane-tab.is-failed').click()
      await page.locator('.box .failure', { hasText: words }).waitFor()
      await page.context().close()
    }
  })

  it('loads over https and from its own site only, and says so', async () => {
    for (const url of [
      'http://127.0.0.1:9/x.jsonl',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:text/plain,x',
    ]) {
      const page = await stage.open(`/?trace=${encodeURIComponent(url)}`)
      await page.locator('.notice.bad', { hasText: 'must use https or point to this site' }).waitFor()
      await page.context().close()
    }
    expect(stage.requests().filter((path) => !app.includes(path) && !path.startsWith('/?'))).toEqual([])
  })

  it('reads from another site that allows it, and says what to do where one does not', async () => {
    const pair = await createLeafCertificates(await makeAuthority(new Date())).of('localhost')
    const tape = callTape('far')
    const far = createServer({ key: pair.key, cert: pair.certificate }, ({ url }, response) => {
      if (url === '/missing.jsonl') response.writeHead(404, { 'access-control-allow-origin': '*' }).end()
      else
        response.writeHead(200, url === '/open.jsonl' ? { 'access-control-allow-origin': '*' } : {}).end(tape)
    }).listen(0)
    await once(far, 'listening')
    const site = `https://localhost:${(far.address() as AddressInfo).port}`
    const open = (name: string): Promise<Page> =>
      stage.open(`/?trace=${site}/${name}`, { ignoreHTTPSErrors: true })
    const allowed = await open('open.jsonl')
    await read(allowed, 2)
    expect(await rows(allowed)).toEqual(['tools/call search ok'])
    for (const [name, words] of [
      ['closed.jsonl', /does not allow this page .* Access-Control-Allow-Origin\. Or download the file/],
      ['missing.jsonl', /responded with HTTP 404\. Check the URL/],
    ] as const) {
      const page = await open(name)
      await page.locator('.list .failure', { hasText: words }).waitFor()
      await page.context().close()
    }
    await allowed.context().close()
    far.closeAllConnections()
    await new Promise((done) => far.close(done))
  })

  it('shows a tape that is still being written as far as it is', async () => {
    stage.serve('/growing.jsonl', callTape('a').split('\n').slice(0, 3).join('\n') + '\n{"t":"2026-08-01')
    const page = await stage.open('/?trace=growing.jsonl')
    await read(page, 2)
    expect(await rows(page)).toEqual(['tools/call search ok'])
    await page.locator('.status-bar .warn-words').click()
    await page.locator('.problems li', { hasText: 'truncated, or still being recorded' }).waitFor()
  })

  it('shows a broken line as such, and everything around it', async () => {
    const lines = callTape('a').trimEnd().split('\n')
    const page = await stage.open('/')
    await drop(page, { 'a.jsonl': [lines[0], lines[1], '{"t":"broken', lines[2], lines[3], ''].join('\n') })
    await read(page, 3)
    expect(await rows(page)).toEqual([
      'tools/call search ok',
      expect.stringMatching(/^gap line 3 .*not valid JSON/),
    ])
    await page.locator('.status-bar .warn-words').click()
    await page.locator('.problems li', { hasText: 'line 3' }).waitFor()
  })

  it('shows a recording that has no end as far as it goes', async () => {
    const page = await stage.open('/', { permissions: ['clipboard-read', 'clipboard-write'] })
    await keepNotices(page)
    await drop(page, { 'a.jsonl': callTape('a').split('\n').slice(0, 3).join('\n') + '\n{"t":"2026' })
    await read(page, 2)
    await page.locator('.status-bar .warn-words').click()
    await page.locator('.problems li', { hasText: 'no end line' }).waitFor()
    await page.keyboard.press('Escape')

    // The page does not know where a dropped file is: a warning that can be read in every colour.
    await page.locator('.row', { hasText: 'search' }).click()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.locator('.detail').getByRole('button', { name: 'Copy', exact: true }).click()
      await page.getByRole('button', { name: 'as wiretape replay' }).click()
      await page.locator('.notice.warn', { hasText: 'does not know the path of a.jsonl' }).waitFor()
      expect(await seriousFindings(page)).toEqual([])
    }
  })
})
