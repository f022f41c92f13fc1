import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type Actor,
  cli,
  printed,
  readIfThere,
  server,
  until,
  viewerAddress,
  useStage,
} from '../behaviour/stage.js'
import { attach } from '../behaviour/attach.js'
import { wiretape } from '../behaviour/run-cli.js'
import { seriousFindings } from './looks.js'
import { read, rows, watchShifts } from './on-the-page.js'
import { expectQuiet, hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

/** Status of a path that no browser would request. */
async function statusOf({ hostname, port }: URL, path: string): Promise<number | undefined> {
  const [response] = (await once(request({ hostname, port, path }).end(), 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

describe.skipIf(!hasBrowser)('wiretape ui', () => {
  const stage = useViewer()
  const play = useStage()

  async function ui(...args: string[]): Promise<{ actor: Actor; url: string }> {
    const actor = play.start([process.execPath, cli, 'ui', '--no-open', ...args])
    return { actor, url: await viewerAddress(actor) }
  }

  const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search"}}'

  async function untilPrinted(actor: Actor, text: string): Promise<string> {
    await printed(actor, text)
    return actor.stdout().toString()
  }

  it('opens the browser by a private file, and shows nothing secret to who lists processes', async () => {
    // Keeps its arguments, and opens its URL as a browser does.
    const bin = play.path('bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$@" > ${play.path('argv')}\n`, { mode: 0o755 })
    writeFileSync(play.path('a.jsonl'), tapeOf([messageLine('in', call)], 'a'))
    const env = { ...play.env, PATH: `${bin}:${process.env['PATH']}` }
    const actor = play.start([process.execPath, cli, 'ui', play.path('a.jsonl')], { env })
    await printed(actor, 'Ctrl+C')
    const file = await until('the browser is started', () => readIfThere(play.path('argv')).trim())
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700)
    expect(file).not.toMatch(/once|token/)
    const page = await stage.open(`file://${file}`)
    await read(page, 1)
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect(await page.evaluate('document.referrer')).toBe('')
    await until('the file is gone', () => !existsSync(file))
    await page.reload()
    await read(page, 1)
    expectQuiet(stage)
    await page.context().close()
    actor.child.kill('SIGINT')
    await actor.ended
  })

  const echo = { jsonrpc: '2.0', id: 99, method: 'tools/call', params: { name: 'echo', arguments: {} } }

  it('shows the files it was given, keeps the token out of the address bar, and ends when told to', async () => {
    writeFileSync(play.path('a.jsonl'), tapeOf([messageLine('in', call)], 'a'))
    const { actor, url } = await ui(play.path('a.jsonl'))
    const page = await stage.open(url)
    await read(page, 1)
    expect(await rows(page)).toEqual(['tools/call search unanswered'])
    // No secret remains in the address, in a cookie, or in the page's own links.
    const code = new URL(url).hash.replace('#once=', '')
    expect(page.url()).toBe(new URL('/', url).href)
    expect(await page.context().cookies()).toEqual([])
    await page.reload()
    await read(page, 1)
    // The address opens one window; the next one is printed.
    const late = await stage.open(url)
    await late.locator('.notice.bad', { hasText: '403' }).waitFor()
    await late.context().close()
    stage.complaints.length = 0
    const another = /another window: (\S+)/.exec(await untilPrinted(actor, 'another window'))![1]!
    expect(another).not.toContain(code)
    const second = await stage.open(another)
    await read(second, 1)
    await second.context().close()
    expectQuiet(stage)
    rmSync(play.path('a.jsonl'))
    await page.reload()
    await page.locator('.failure', { hasText: /a\.jsonl could not be fetched: .*still exists/ }).waitFor()
    await page.context().close()
    actor.child.kill('SIGINT')
    expect(await actor.ended).toMatchObject({ exitCode: 0 })
  })

  it('lists the recordings of the data folder, and opens one', async () => {
    const { actor, url } = await ui()
    const page = await stage.open(url)
    await page.locator('.home', { hasText: 'No recordings' }).waitFor()
    const folder = join(play.env['XDG_DATA_HOME']!, 'wiretape/recordings')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'b.jsonl'), tapeOf([messageLine('in', call)], 'listed'))
    await page.locator('.recording', { hasText: 'listed' }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.locator('.recording', { hasText: 'listed' }).click()
    await read(page, 1)
    // The address names it: it is there again, and left again.
    await page.reload()
    await read(page, 1)
    await page.goBack()
    await page.locator('.recording', { hasText: 'listed' }).waitFor()
    await page.goto(`${new URL(url).origin}/?trace=https://example.com/x.jsonl`)
    await page.locator('.notice.bad', { hasText: 'Cannot open example.com' }).waitFor()
    expect(await statusOf(new URL(url), '//')).toBe(400)
    expectQuiet(stage)
    await page.context().close()
    actor.child.kill('SIGTERM')
    await actor.ended
  })

  it('follows a recording while it is made, and says when it is over', async () => {
    const recorder = play.start(play.record(server('echo-lines.mjs'), ['--label', 'live']))
    await recorder.send(`${call}\n`)
    await printed(recorder, '\n')
    const { actor, url } = await ui(play.tape())
    const page = await stage.open(url)
    await page.locator('.lane-tab .live-dot').waitFor()
    await page.locator('.row', { hasText: 'search' }).first().waitFor()
    await page.fill('[data-find=filter]', 'tool:later')
    await page.keyboard.press('Escape')
    await recorder.send(`${call.replace('search', 'later').replace('"id":1', '"id":2')}\n`)
    await page.locator('.row', { hasText: 'later' }).first().waitFor()
    recorder.stdin.end()
    await recorder.ended
    await page.locator('.lane-tab .live-dot').waitFor({ state: 'detached' })
    expectQuiet(stage)
    await page.context().close()
    actor.child.kill('SIGTERM')
    await actor.ended
  })

  it('shows a message as held while it is, and keeps the newest row in sight with f', async () => {
    const recorder = play.start(
      play.record(server('mini-mcp.mjs'), ['--break', 'method:tools/call is:request']),
    )
    const screen = await attach(play)
    for (let id = 1; id <= 60; id += 1) await recorder.send(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`)
    await recorder.send(`${JSON.stringify(echo)}\n`)
    const held = await screen.held()
    const { actor, url } = await ui(play.tape())
    const page = await stage.open(url, { viewport: { width: 1280, height: 480 } })
    const row = page.locator('.row.is-held', { hasText: 'tools/call echo' })
    await row.filter({ hasText: 'held' }).waitFor()
    await row.click()
    await page.locator('.around', { hasText: 'held now' }).waitFor()
    await screen.tell({ type: 'annotate', text: 'look here', message: held['message'] })
    await page.locator('.message.note', { hasText: 'look here' }).waitFor()
    // The note stands above the message, which moves; nothing else may.
    await page.evaluate(watchShifts)
    await screen.tell({ type: 'forward', message: held['message'] })
    await page.locator('.row.is-ok', { hasText: 'tools/call echo' }).waitFor()
    await page.locator('.around', { hasText: /held for \d/ }).waitFor()
    // A reader of the first row stays there; with f the newest row scrolls into view.
    await page.keyboard.press('g')
    const last = page.locator('.row', { hasText: 'tools/list' })
    await recorder.send('{"jsonrpc":"2.0","id":100,"method":"tools/list"}\n')
    await page.locator('.status-bar', { hasText: /shown · 12[45] messages, 1 other entry/ }).waitFor()
    expect(await last.count()).toBe(0)
    await page.keyboard.press('f')
    await last.waitFor()
    await recorder.send('{"jsonrpc":"2.0","id":101,"method":"prompts/list"}\n')
    await page.locator('.row', { hasText: 'prompts/list' }).waitFor()
    expect(await page.evaluate('window.shifted')).toBeLessThan(0.01)
    expectQuiet(stage)
    // A following page shows that the capture has ended.
    actor.child.kill('SIGKILL')
    await actor.ended
    await page.locator('.banner', { hasText: /only partly downloaded.*Reload/ }).waitFor()
    await page.context().close()
    recorder.stdin.end()
    await recorder.ended
  })

  it('writes a report that opens from a disk, fetches nothing, and shows the same', async () => {
    const odd = '{"jsonrpc":"2.0","id":1,"method":"</script><!--","params":{"n":1.0}}'
    writeFileSync(play.path('a.jsonl'), tapeOf([messageLine('in', odd)], '</title>'))
    const { code } = await wiretape(['convert', play.path('a.jsonl'), play.path('report.html')])
    expect(code).toBe(0)
    const page = await stage.open('about:blank')
    const fetched: string[] = []
    page.on('request', (request) => {
      if (!/^(?:file|data|blob):/.test(request.url())) fetched.push(request.url())
    })
    await page.goto(`file://${play.path('report.html')}`)
    await read(page, 1)
    await page.keyboard.press('j')
    await page.locator('.json', { hasText: 'n: 1.0' }).waitFor()
    await page.fill('[data-find=filter]', 'method:~/scr.pt/')
    await page.locator('.slot-filter .count', { hasText: '1' }).waitFor()
    expect(fetched).toEqual([])
    expectQuiet(stage)
    await page.context().close()
  })

  it('says what is wrong before it serves anything', async () => {
    appendFileSync(play.path('there'), '')
    expect(await wiretape(['ui', '--no-open', play.path('missing.jsonl')])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/cannot read .*missing\.jsonl/),
    })
    expect(await wiretape(['ui', '--no-open', '--port', 'x'])).toMatchObject({ code: 2 })
  })
})
