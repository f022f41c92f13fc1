import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import { createServer as createSocket, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { everythingScript } from '../clients/everything.js'
import {
  type Actor,
  cli,
  kill,
  printed,
  readIfThere,
  server,
  until,
  viewerAddress,
  useStage,
  recordingsOf,
} from '../behaviour/stage.js'
import { expectLooks, picture, seriousFindings } from './looks.js'
import { expectQuiet, hasBrowser, useViewer } from './stage.js'

const token = 'kettle-token-8f2c5d1e'

describe.skipIf(!hasBrowser)('sessions of wiretape ui', () => {
  const stage = useViewer()
  const play = useStage()
  const recordings = (): string => recordingsOf(play)
  let gate: Server | undefined
  beforeEach(() => void recordings())
  afterEach(async () => {
    gate?.closeAllConnections()
    gate?.close()
    gate = undefined
  })

  async function ui(): Promise<{ actor: Actor; page: Page }> {
    const actor = play.start([process.execPath, cli, 'ui', '--no-open'])
    return { actor, page: await stage.open(await viewerAddress(actor)) }
  }

  async function end(page: Page, actor: Actor, ...but: readonly RegExp[]): Promise<void> {
    expectQuiet(stage, ...but)
    await page.context().close()
    actor.child.kill('SIGTERM')
    await actor.ended
  }

  async function record(...call: string[]): Promise<string> {
    const env = { ...play.env, KETTLE: `Bearer ${token}` }
    const actor = play.start([process.execPath, cli, 'call', ...call], { env })
    await actor.ended
    return actor.stdout().toString() + actor.stderr().toString()
  }

  const form = (page: Page) => page.locator('.act-bench')
  const tapes = (): string[] =>
    readdirSync(recordings()).map((name) => readFileSync(join(recordings(), name), 'utf8'))

  it('connects to a recorded URL with headers, holds and edits, and says when it ends', async () => {
    const url = await guarded(await startEverything())
    expect(
      await record('echo', '{"message":"hi"}', '--url', url, '--header', 'Authorization: ${KETTLE}'),
    ).toContain('Echo: hi')
    const { actor, page } = await ui()
    const connect = page.getByRole('button', { name: /^Connect to the server of/ })
    const box = page.locator('.act-box')
    await connect.click()
    await box.getByText('wiretape connects to this address').waitFor()
    expect(await box.locator('pre').textContent()).toBe(url)
    await box.getByRole('button', { name: 'Connect' }).click()
    await box.locator('.failure', { hasText: '401' }).waitFor()
    await box.getByRole('button', { name: 'Add header' }).click()
    await page.getByLabel('Name of header 1').fill('Host')
    await box.getByRole('button', { name: 'Connect' }).click()
    await box.locator('.failure', { hasText: 'wiretape sets this header itself' }).waitFor()
    await page.getByLabel('Name of header 1').fill('Authorization')
    await page.getByLabel('Value of header 1').fill(`Bearer ${token}`)
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'sessions-headers')
    await box.getByRole('button', { name: 'Connect' }).click()
    const bench = form(page)
    await bench.getByLabel('Tool', { exact: true }).waitFor()
    for (const pid of play.running()) expect(readIfThere(`/proc/${pid}/cmdline`)).not.toContain(token)
    expect(page.url()).not.toContain(token)

    // Hold and edit: the queue is in the workbench while that is open.
    await page.getByRole('button', { name: /^Take control/ }).click()
    await page.getByRole('button', { name: 'Hold', exact: true }).click()
    await page.getByRole('button', { name: 'Stop holding' }).waitFor()
    await bench.getByLabel('message (required)').fill('as written')
    await bench.getByRole('button', { name: 'Call', exact: true }).click()
    await bench.getByText('a message is held: forward, edit, answer or drop it').waitFor()
    await bench
      .locator('.act-queue li', { hasText: 'tools/call echo' })
      .getByRole('button', { name: 'Edit' })
      .click()
    const editor = page.locator('.act-box .cm-content')
    await editor.click()
    const written = await editor.innerText()
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Delete')
    await page.keyboard.insertText(written.replace('as written', 'as edited'))
    await page.keyboard.press('Control+Enter')
    await bench
      .locator('.act-queue li', { hasText: 'result' })
      .getByRole('button', { name: 'Forward' })
      .click()
    await bench.locator('.act-answers', { hasText: 'Echo: as edited' }).waitFor()
    await page.getByRole('button', { name: 'Stop holding' }).click()
    await page.locator('.row', { hasText: 'as edited' }).first().waitFor()

    // A person is sent to an address, first by a request, then by an error.
    await bench.getByLabel('Tool', { exact: true }).selectOption('trigger-url-elicitation')
    await bench.getByLabel('url (required)').fill('https://kettle.example/pay')
    await bench.getByLabel(/^message/).fill('Pay for the kettle')
    await bench.getByRole('button', { name: 'Call', exact: true }).click()
    const asked = bench.locator('.act-asked', { hasText: 'Pay for the kettle' })
    expect(await asked.getByRole('link').getAttribute('href')).toBe('https://kettle.example/pay')
    expect(await seriousFindings(page)).toEqual([])
    await asked.getByRole('button', { name: 'Accept' }).click()
    await bench.locator('.act-answers', { hasText: 'completed the URL elicitation' }).waitFor()
    await bench.getByLabel('errorPath').selectOption('true')
    await bench.getByRole('button', { name: 'Call', exact: true }).click()
    await bench.locator('.act-answers', { hasText: 'Open this link to satisfy the prerequisite' }).waitFor()
    const link = bench.locator('.act-answers').getByRole('link').first()
    expect(await link.getAttribute('href')).toContain('https://modelcontextprotocol.io')

    // Beside the workbench a narrow window shows one pane at a time; the edge obeys the arrow keys.
    await page.setViewportSize({ width: 1024, height: 800 })
    await page.locator('.row', { hasText: 'as edited' }).first().click()
    await page.getByRole('button', { name: 'Messages' }).last().click()
    await page.locator('.row', { hasText: 'as edited' }).first().waitFor()
    const edge = page.getByRole('separator', { name: 'Workbench width' })
    const before = (await bench.boundingBox())!.width
    await edge.focus()
    await page.keyboard.press('ArrowLeft')
    await until('it is wider', async () => (await bench.boundingBox())!.width === before + 20)
    await page.setViewportSize({ width: 1440, height: 900 })

    // Without a page it ends soon, unless it is kept open.
    await page.getByRole('link', { name: 'wiretape' }).click()
    const live = page.locator('.recording', { hasText: 'live' })
    await live.getByText(/ends in \d+ s/).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await page.locator('.recording', { hasText: 'the server responded with HTTP 401' }).waitFor()
    await picture(page, 'sessions-home')
    await live.getByRole('button', { name: 'Keep open' }).click()
    await live.getByText(/ends in/).waitFor({ state: 'detached' })
    await live.getByRole('button', { name: 'End session' }).click()
    await connect.nth(2).waitFor()
    // The attempt without the token has a recording, too.
    expect(tapes().length).toBe(3)
    expect(tapes().join('')).not.toContain(token)
    await end(page, actor, /status of (400|502)/)
  })

  it('says in the list why a kept session has ended, and why another did not begin', async () => {
    const kettle = play.path('kettle')
    const serve = (program: string): void => {
      writeFileSync(kettle, `#!/bin/sh\n${program}\n`)
      chmodSync(kettle, 0o755)
    }
    serve(`exec ${server('mini-mcp.mjs').join(' ')}`)
    expect(await record('echo', '{"text":"hi"}', '--', kettle)).toContain('hi')
    const { actor, page } = await ui()
    const connect = page.getByRole('button', { name: /^Connect to the server of/ })
    const start = page.locator('.act-box').getByRole('button', { name: 'Start and connect' })
    await connect.click()
    await start.click()
    await form(page).getByRole('button', { name: 'Keep open' }).click()
    await form(page).getByText('Stays open after its last page').waitFor()
    await page.getByRole('link', { name: 'Close' }).click()
    await page
      .locator('.recording.is-live')
      .getByRole('button', { name: 'Keep open', pressed: true })
      .waitFor()
    for (const pid of play.runningAs('mini-mcp.mjs')) kill(pid)
    const row = page.locator('.recording', { hasText: 'session ended:' })
    await row.waitFor()
    await page.locator('.recording.is-live').waitFor({ state: 'detached' })
    expect(await row.getByRole('button').allTextContents()).toEqual(['Connect', 'Delete'])

    serve('read request; exit 3')
    await connect.first().click()
    await start.click()
    await page.locator('.act-box .failure', { hasText: 'exited with 3' }).waitFor()
    rmSync(kettle)
    await start.click()
    await page.locator('.act-box .failure', { hasText: 'no such program' }).waitFor()
    await page.locator('.act-box').getByRole('button', { name: 'Close' }).click()
    await page
      .locator('.recording', { hasText: 'the server exited with 3 before its first message' })
      .waitFor()
    await page
      .locator('.recording.is-failed', { hasText: 'the server did not start: no such program' })
      .waitFor()
    await expectLooks(page, 'sessions-failed')
    await end(page, actor, /status of 502/)
  })

  it('goes on when a server sends messages of the wrong types', async () => {
    await record('echo', '{}', '--', ...server('hostile-mcp.mjs'))
    const { actor, page } = await ui()
    await page.getByRole('button', { name: /^Connect to the server of/ }).click()
    await page.locator('.act-box').getByRole('button', { name: 'Start and connect' }).click()
    const bench = form(page)
    const press = (name: string | RegExp): Promise<void> =>
      bench.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name }).click()
    const choose = (name: string): Promise<unknown> =>
      bench.getByLabel('Tool', { exact: true }).selectOption(name)
    await choose('blocks')
    await press('Call')
    const answer = bench.locator('.act-answers')
    await answer.getByText('long long').first().waitFor()
    expect(await answer.textContent()).not.toContain('\u202e')
    // Of a long text the beginning is drawn.
    for (const text of await answer.locator('pre').allTextContents()) expect(text.length).toBeLessThan(25_000)

    await choose('asks')
    await bench.getByLabel('odd').waitFor()
    await press('Call')
    await answer.getByRole('heading', { name: /^answered/ }).waitFor()
    const asked = bench.locator('.act-asked')
    await asked.nth(5).waitFor()
    await press(/^Notifications/)
    await until('all are told', async () => (await bench.locator('.act-log li').count()) >= 3)
    await press('Prompts')
    await bench.getByRole('button', { name: 'Get the prompt' }).waitFor()
    await press('Resources')
    await bench.getByLabel('URI', { exact: true }).waitFor()
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'sessions-hostile')
    for (const decision of ['Decline', 'Decline', 'Decline', 'Reject', 'Reject', 'Answer']) {
      const left = await asked.count()
      await asked.first().getByRole('button', { name: decision, exact: true }).click()
      await until('it is decided', async () => (await asked.count()) === left - 1)
    }
    expect(await bench.getByText('Cannot show this').count()).toBe(0)
    await press('End session')
    await bench.waitFor({ state: 'detached' })
    await end(page, actor)
  })

  it('answers the rounds of 2026-07-28 in the page', async () => {
    const upstream = play.start(server('sdk-modern-http.mjs'))
    await printed(upstream, 'http')
    const url = /http:\S+/.exec(upstream.stdout().toString())![0]
    await record('echo', '{"text":"hi"}', '--url', url)
    const { actor, page } = await ui()
    await page.getByRole('button', { name: /^Connect to the server of/ }).click()
    await page.locator('.act-box').getByRole('button', { name: 'Connect' }).click()
    const bench = form(page)
    await bench.getByLabel('Tool', { exact: true }).selectOption('book')
    await bench.getByLabel('what', { exact: true }).fill('a kettle')
    await bench.getByRole('button', { name: 'Call', exact: true }).click()
    const asked = bench.locator('.act-asked', { hasText: 'Book a kettle?' })
    await asked.getByLabel('ok (required)').selectOption('true')
    await asked.getByRole('button', { name: 'Accept' }).click()
    await bench.locator('.act-answers', { hasText: 'Booked a kettle' }).waitFor()
    await bench.getByRole('button', { name: 'Call', exact: true }).click()
    await asked.getByRole('button', { name: 'Decline' }).click()
    await bench.locator('.act-answers').waitFor()
    await end(page, actor)
  })

  it('acts on a live client of a server from npm: holds, changes, answers, repeats, overrides and calls', async () => {
    const recorder = play.start(play.record([process.execPath, everythingScript]))
    let id = 0
    const say = (method: string, params: unknown = {}): Promise<void> =>
      recorder.send(`${JSON.stringify({ jsonrpc: '2.0', id: (id += 1), method, params })}\n`)
    const call = (name: string, args: unknown): Promise<void> => say('tools/call', { name, arguments: args })
    const clientInfo = { name: 'kettle', version: '1' }
    await say('initialize', { protocolVersion: '2025-11-25', clientInfo, capabilities: {} })
    await printed(recorder, '"id":1')
    await recorder.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    await say('tools/list')
    await call('echo', { message: 'first' })
    await printed(recorder, 'Echo: first')
    const actor = play.start([process.execPath, cli, 'ui', '--no-open', play.tape()])
    const page = await stage.open(await viewerAddress(actor))
    const press = (name: string | RegExp): Promise<void> =>
      page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name }).click()
    const box = page.locator('.act-box')
    const inBox = (name: string): Promise<void> => box.getByRole('button', { name, exact: true }).click()
    const held = (text: string) => page.locator('.act-queue li', { hasText: text })
    const decide = (text: string, name: string): Promise<void> =>
      held(text).getByRole('button', { name }).click()
    const editor = page.locator('.act-box .cm-content')
    const write = async (text: string): Promise<void> => {
      await editor.click()
      await page.keyboard.press('Control+A')
      await page.keyboard.press('Delete')
      await page.keyboard.insertText(text)
    }

    // A breakpoint holds one tool only; its arguments are edited with the names of its schema.
    // An action in the menu of a row leads to control, and gives the reason.
    await page.locator('.row', { hasText: 'first' }).first().click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Override…' }).waitFor()
    await page.getByRole('menuitem', { name: 'Note…' }).waitFor()
    await page.getByRole('menuitem', { name: 'Send again…' }).click()
    await box.getByText('the page takes control of').waitFor()
    await expectLooks(page, 'sessions-lead')
    await page.setViewportSize({ width: 1440, height: 900 })
    await inBox('Take control and continue')
    await box.getByRole('button', { name: 'Send', exact: true }).waitFor()
    await inBox('Close')
    await press('Breakpoints')
    await page
      .getByLabel('Hold only messages that match this filter; empty for no breakpoint')
      .fill('tool:get-sum is:request')
    await inBox('Set')
    await box.waitFor({ state: 'detached' })
    await call('echo', { message: 'passes' })
    await printed(recorder, 'Echo: passes')
    await call('get-sum', { a: 1, b: 2 })
    await decide('tools/call get-sum', 'Edit')
    await write((await editor.innerText()).replace(/"arguments"[^]*/, '"arguments":{'))
    await page.keyboard.type('"')
    const names = page.locator('.cm-tooltip-autocomplete')
    await names.getByText('"b"', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await write(
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"get-sum","arguments":{"a":40,"b":2}}}`,
    )
    await page.keyboard.press('Control+Enter')
    await printed(recorder, '42')

    // One is dropped, one answered by the person.
    await call('get-sum', { a: 5, b: 5 })
    await decide('tools/call get-sum', 'Drop')
    await held('tools/call get-sum').waitFor({ state: 'detached' })
    await call('get-sum', { a: 6, b: 6 })
    await decide('tools/call get-sum', 'Answer')
    await write('{"result":{"content":[{"type":"text","text":"a dozen"}]}}')
    await inBox('Answer')
    await printed(recorder, 'a dozen')
    await press(/^Breakpoints/)
    await page.getByLabel('Hold only messages that match this filter; empty for no breakpoint').fill('')
    await inBox('Set')
    await box.waitFor({ state: 'detached' })

    // Sent again three times, the answers are compared; then the answer is overridden, and the rules turned off and on.
    await page.locator('.row', { hasText: 'first' }).first().click()
    await press('Send again')
    await page.getByLabel('Times').fill('3')
    await inBox('Send')
    await box.locator('h3', { hasText: '3 of 3: same response as before' }).waitFor()
    await inBox('Close')
    await press('Override')
    const rule = page.getByLabel('Rule as YAML')
    await rule.fill((await rule.inputValue()).replace('Echo: first', 'Echo: by a rule'))
    await inBox('Add rule')
    await page.locator('.notice', { hasText: 'Rule added' }).waitFor()
    await call('echo', { message: 'first' })
    await printed(recorder, 'Echo: by a rule')
    await press(/^Rules .*: on \(1\)$/)
    await page.getByRole('button', { name: /^Rules .*: off$/ }).waitFor()
    const answers = recorder.stdout().toString().split('Echo: first').length
    await call('echo', { message: 'first' })
    await until(
      'the server answers',
      () => recorder.stdout().toString().split('Echo: first').length > answers,
    )
    await press(/^Rules .*: off$/)
    await page.getByRole('button', { name: /^Rules .*: on/ }).waitFor()
    await press('Add note')
    await page.getByLabel('Note about this message').fill('the kettle was on')
    await inBox('Add')
    await page.locator('.message.note', { hasText: 'the kettle was on' }).waitFor()

    // A call of the page: its progress, its cancellation and its answer are not the client's.
    const seen = recorder.stdout().length
    await press('Call a tool')
    const bench = form(page)
    await bench.getByLabel('Tool', { exact: true }).selectOption('trigger-long-running-operation')
    await bench.getByLabel('duration').fill('30')
    await bench.getByLabel('steps').fill('60')
    await bench.getByRole('button', { name: 'Call', exact: true }).click()
    await bench.getByText(/^\d+ of 60$/).waitFor()
    await bench.locator('progress').waitFor()
    await bench.getByRole('button', { name: 'Cancel' }).click()
    await bench.locator('.failure', { hasText: 'it was cancelled' }).waitFor()
    await bench.getByLabel('duration').fill('0.1')
    await bench.getByLabel('steps').fill('1')
    await bench.getByRole('button', { name: 'Call', exact: true }).click()
    await bench.locator('.act-answers', { hasText: 'Long running operation completed' }).waitFor()
    await say('ping')
    await printed(recorder, `"id":${id}`)
    expect(recorder.stdout().subarray(seen).toString().trim().split('\n')).toEqual([
      expect.stringContaining(`"id":${id}`),
    ])
    await picture(page, 'sessions-live')
    recorder.stdin.end()
    await recorder.ended
    await end(page, actor)
  })

  /** server-everything over Streamable HTTP. @returns its port */
  async function startEverything(): Promise<number> {
    const socket = createSocket()
    await new Promise<void>((done) => socket.listen(0, '127.0.0.1', done))
    const { port } = socket.address() as AddressInfo
    await new Promise((done) => socket.close(done))
    const upstream = play.start([process.execPath, everythingScript, 'streamableHttp'], {
      env: { ...play.env, PORT: String(port) },
    })
    await until('it listens', () => upstream.stderr().includes('listening on port'))
    return port
  }

  /** Lets only requests with the token through. */
  async function guarded(port: number): Promise<string> {
    gate = createServer((incoming, response) => {
      if (incoming.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end()
      const { method, url: path, headers } = incoming
      const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
      onward.once('error', () => response.destroy())
      response.once('close', () => onward.destroy())
      incoming.pipe(onward)
      return undefined
    })
    await new Promise<void>((done) => gate!.listen(0, '127.0.0.1', done))
    return `http://127.0.0.1:${(gate.address() as AddressInfo).port}/mcp`
  }
})
