import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { answerTo } from '../behaviour/mini-talk.js'
import { useHttpStage } from '../behaviour/http-stage.js'
import { printed, server, until } from '../behaviour/stage.js'
import { picture, seriousFindings } from './looks.js'
import { hasBrowser, useViewer } from './stage.js'

const say = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

describe.skipIf(!hasBrowser)('the story of a call', () => {
  const stage = useViewer()
  const play = useHttpStage()

  async function open(row: number): Promise<Page> {
    stage.serve('/s.jsonl', { file: play.tape() })
    const page = await stage.open(`/?trace=s.jsonl#row=${row}`)
    await page.getByRole('button', { name: 'Story', exact: true }).click()
    await page.locator('.story-steps li').first().waitFor()
    return page
  }

  const names = (page: Page): Promise<string[]> => page.locator('.story-name b').allTextContents()

  async function looked(page: Page, name: string): Promise<void> {
    for (const theme of ['light', 'dark'] as const)
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: 1000 })
        await page.emulateMedia({ colorScheme: theme })
        await picture(page, `${name}-${theme}`)
        expect(await seriousFindings(page)).toEqual([])
        expect(
          await page.evaluate(
            `document.querySelector('.detail-body').scrollWidth - document.querySelector('.detail-body').clientWidth`,
          ),
        ).toBe(0)
      }
    await page.setViewportSize({ width: 1440, height: 900 })
  }

  it('tells what the server did and asked, and how it was answered', async () => {
    const recorder = play.start(play.record(server('telling-mcp.mjs')))
    const call = { name: 'plan', arguments: { where: 'Graz' }, _meta: { progressToken: 'p' } }
    await recorder.send(say({ id: 1, method: 'tools/call', params: call }))
    await printed(recorder, 'roots-1')
    await recorder.send(say({ id: 'roots-1', result: { roots: [{ uri: 'file:///trips', name: 'Trips' }] } }))
    await printed(recorder, 'model-1')
    const content = { type: 'text', text: 'Take the night train.' }
    const model = { role: 'assistant', model: 'small-1', stopReason: 'endTurn', content }
    await recorder.send(say({ id: 'model-1', result: model }))
    await printed(recorder, 'form-1')
    await recorder.send(
      say({ id: 'form-1', result: { action: 'accept', content: { seats: 2, class: 'second', meal: 'v' } } }),
    )
    await answerTo(recorder, 1)
    await recorder.send(say({ id: 2, method: 'tools/call', params: { name: 'wait' } }))
    const params = { requestId: 2, reason: 'The user left' }
    await recorder.send(say({ method: 'notifications/cancelled', params }))
    recorder.stdin.end()
    await recorder.ended

    const page = await open(0)
    expect((await names(page)).filter((name) => name !== 'stderr')).toEqual([
      'tools/call',
      'notifications/message',
      'notifications/progress',
      'roots/list',
      'notifications/progress',
      'sampling/createMessage',
      'elicitation/create',
      'notifications/progress',
      'result of tools/call',
    ])
    const story = page.locator('.story')
    await story.locator('.story-sum', { hasText: /^The call took \d/ }).waitFor()
    await story.locator('.story-told', { hasText: 'The client sent tools/call plan.' }).waitFor()
    await story
      .locator('.story-told', { hasText: /Progress was reported 3 times, .*The server answered after \d/ })
      .waitFor()
    await story.locator('.tell-stderr', { hasText: 'planning begins' }).waitFor()
    await story.locator('.tell-log', { hasText: /info.*map loaded/ }).waitFor()
    await story.locator('.tell-progress', { hasText: 'Asking the model' }).waitFor()
    await story.locator('.asked-roots', { hasText: 'file:///trips Trips' }).waitFor()
    expect(await story.locator('.bubble-who').allTextContents()).toEqual([
      'system ',
      'user ',
      'assistant ',
      'user ',
      'assistant small-1, endTurn',
    ])
    await story.locator('.bubble.is-answer', { hasText: 'Take the night train.' }).waitFor()
    expect(await story.locator('img').count()).toBe(0)
    expect(await story.locator('.asked-form dt').allTextContents()).toEqual([
      'Seats How many, integer, required',
      'class one of first, second',
      'meal one of Vegetarian, None',
      'remark string',
    ])
    expect(await story.locator('.asked-form dd').allTextContents()).toEqual([
      '2',
      'second',
      'Vegetarian (v)',
      'no value',
    ])
    await story.locator('.asked-form .pill', { hasText: 'accepted' }).waitFor()
    await story.locator('.tell-answer', { hasText: 'Take the night train. Seats: 2' }).waitFor()
    await looked(page, 'story')

    // The address keeps it, and a step leads to its message.
    await page.reload()
    await story.locator('.tell-answer').waitFor()
    await story.locator('.tell-asked button', { hasText: 'elicitation' }).click()
    await page.locator('.detail h2', { hasText: 'elicitation/create' }).waitFor()
    await page.locator('.message').first().waitFor()

    await page.locator('.row', { hasText: 'tools/call wait' }).click()
    await page.getByRole('button', { name: 'Story', exact: true }).click()
    await story.locator('.story-sum', { hasText: 'Cancelled, without a response.' }).waitFor()
    await story.locator('.tell-cancel', { hasText: 'The user left' }).waitFor()
    await story.locator('.story-told b', { hasText: /cancelled/ }).waitFor()
  })

  const story = (page: Page) => page.locator('.story')

  it('tells of a task until it is over, with its polls and what it asked', async () => {
    const recorder = play.start(play.record(server('task-mcp.mjs')))
    await recorder.send(say({ id: 0, method: 'tools/list' }))
    await answerTo(recorder, 0)
    await recorder.send(say({ id: 1, method: 'tools/call', params: { name: 'research', task: {} } }))
    const { result } = (await answerTo(recorder, 1)) as { result: { task: { taskId: string } } }
    const params = { taskId: result.task.taskId }
    for (const id of [2, 3, 4]) {
      await recorder.send(say({ id, method: 'tasks/get', params }))
      await answerTo(recorder, id)
    }
    await recorder.send(say({ id: 5, method: 'tasks/result', params }))
    await printed(recorder, 'q-1')
    await recorder.send(say({ id: 'q-1', result: { action: 'accept', content: { which: 'bees' } } }))
    const found = await answerTo(recorder, 5)
    recorder.stdin.end()
    await recorder.ended

    const page = await open(2)
    await story(page)
      .locator('.story-sum', { hasText: /^The call took \d.*until its task ended$/ })
      .waitFor()
    expect((await names(page)).filter((name) => name !== 'notifications/tasks/status')).toEqual([
      'tools/call',
      'task created',
      'tasks/get',
      'tasks/get',
      'tasks/result',
      'elicitation/create',
      'result of the task',
    ])
    // The list, the detail and Tools have the same latency, without the time in which the client filled in the form.
    const latency = await page
      .locator('.list .row', { hasText: 'tools/call' })
      .locator('.latency')
      .textContent()
    await page.locator('.detail', { hasText: latency! }).waitFor()
    await page.locator('.detail', { hasText: /plus \d.* waiting for the client/ }).waitFor()
    await story(page).locator('.tell-poll', { hasText: '2 times' }).waitFor()
    await story(page).locator('.tell-poll', { hasText: 'input_required' }).waitFor()
    await story(page).locator('.asked-form dd', { hasText: 'bees' }).waitFor()
    await story(page).locator('.tell-answer .block.text', { hasText: 'Found bees' }).waitFor()
    await page.locator('.list .row', { hasText: 'tools/call' }).filter({ hasText: 'Found bees' }).waitFor()
    await looked(page, 'story-task')
    await page.keyboard.press('3')
    const polls = page.locator('.grid tbody tr', { hasText: 'tasks/get' })
    expect(await polls.locator('th').textContent()).toBe('tasks/get ')
    expect(await polls.locator('td').first().textContent()).toBe('3')
    await page.keyboard.press('6')
    // Calls, tokens of results and of the largest: of the result that `tasks/result` brought.
    const tokens = String(Math.ceil(JSON.stringify(found).length / 4))
    const cost = page.locator('.cost-page tbody tr', { hasText: 'research' }).locator('td.number')
    await expect.poll(async () => (await cost.allTextContents()).slice(1)).toEqual(['1', tokens, tokens])
  })

  /** A tape of a call and messages about tasks, each after a second. */
  async function openTask(...messages: readonly object[]): Promise<Page> {
    const at = (i: number): string => new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString()
    const call = { dir: 'in', raw: { id: 1, method: 'tools/call', params: { name: 'dig', task: {} } } }
    const lines = [call, ...messages].map((line, i) => {
      const { dir, raw } = line as { dir: string; raw: object }
      return JSON.stringify({ t: at(i), dir, raw: { jsonrpc: '2.0', ...raw } })
    })
    const meta = { v: 1, type: 'meta', startedAt: at(0), label: 'tasks', command: ['dig-mcp'] }
    const end = { t: at(lines.length), type: 'end', exitCode: 0, durationMs: lines.length * 1000 }
    const text = [JSON.stringify(meta), ...lines, JSON.stringify(end), ''].join('\n')
    stage.serve('/task.jsonl', text)
    const page = await stage.open('/?trace=task.jsonl#row=0')
    await page.getByRole('button', { name: 'Story', exact: true }).click()
    await page.locator('.story-steps li').first().waitFor()
    return page
  }

  const status = (taskId: string, of: string): object => ({
    dir: 'out',
    raw: { method: 'notifications/tasks/status', params: { taskId, status: of } },
  })
  const created = { dir: 'out', raw: { id: 1, result: { task: { taskId: 'T', status: 'working' } } } }
  const statusCell = (page: Page) =>
    page.locator('.list .row', { hasText: 'tools/call dig' }).locator('.status')

  it('shows the outcome of a task at its call, and only its own status', async () => {
    const params = { taskId: 'T' }
    const page = await openTask(
      status('T', 'working'),
      status('other', 'completed'),
      created,
      status('T', 'failed'),
      { dir: 'in', raw: { id: 2, method: 'tasks/result', params } },
      { dir: 'out', raw: { id: 2, error: { code: -32603, message: 'No shovel' } } },
    )
    expect(await names(page)).toEqual([
      'tools/call',
      'notifications/tasks/status',
      'task created',
      'notifications/tasks/status',
      'tasks/result',
      'error of the task',
    ])
    expect(await page.locator('.story .tag').count()).toBe(0)
    await story(page).locator('.story-sum', { hasText: 'until its task failed' }).waitFor()
    await story(page).locator('.story-told', { hasText: 'The task of the call failed.' }).waitFor()
    await story(page).locator('.tell-answer', { hasText: '-32603 No shovel' }).waitFor()
    expect(await statusCell(page).textContent()).toBe('task failed')
    await page.locator('.list .row', { hasText: 'tools/call dig' }).filter({ hasText: 'No shovel' }).waitFor()
    await page.locator('.troubles', { hasText: /^1 error$/ }).waitFor()
    await looked(page, 'story-failed-task')
    await page.locator('.chip', { hasText: 'Errors' }).click()
    await page.locator('.list .row', { hasText: 'tasks/result' }).waitFor({ state: 'detached' })
    expect(await statusCell(page).textContent()).toBe('task failed')
  })

  it('ends with the outcome of the task: later messages are of the call only where they name it', async () => {
    const log = {
      dir: 'out',
      raw: { method: 'notifications/message', params: { level: 'info', data: 'next' } },
    }
    const page = await openTask(
      created,
      status('T', 'completed'),
      { dir: 'in', raw: { id: 2, method: 'tasks/result', params: { taskId: 'T' } } },
      { dir: 'out', raw: { id: 2, result: { content: [{ type: 'text', text: 'Gold' }] } } },
      ...Array.from({ length: 20 }, () => log),
      { dir: 'in', raw: { method: 'notifications/cancelled', params: { requestId: 1 } } },
    )
    expect((await names(page)).slice(-2)).toEqual(['result of the task', 'notifications/cancelled'])
    await story(page).locator('.story-sum', { hasText: 'The call took 2.0 s' }).waitFor()
    expect(await story(page).locator('.story-bar i').first().getAttribute('style')).toContain('width: 100%')
  })

  it('says that a message may belong to another call whose task is open', async () => {
    const page = await openTask(
      created,
      { dir: 'in', raw: { id: 2, method: 'tools/call', params: { name: 'fill', task: {} } } },
      { dir: 'out', raw: { id: 2, result: { task: { taskId: 'U', status: 'working' } } } },
      { dir: 'out', raw: { id: 'r', method: 'roots/list' } },
      status('T', 'completed'),
    )
    await story(page).locator('.tell-asked .tag', { hasText: 'meanwhile' }).waitFor()
  })

  it.each<[string, string, string, readonly object[]]>([
    ['does not end', 'task not ended', 'The recording ends before the task of the call.', []],
    [
      'waits for input',
      'task not ended',
      'The recording ends before the task',
      [status('T', 'input_required')],
    ],
    ['is cancelled', 'cancelled', 'until its task was cancelled', [status('T', 'cancelled')]],
    ['is completed', 'ok', 'until its task ended', [status('T', 'completed')]],
  ])('shows that the task of a call %s', async (_, cell, sum, later) => {
    const page = await openTask(created, ...later)
    await story(page).locator('.story-sum', { hasText: sum }).waitFor()
    expect(await statusCell(page).textContent()).toBe(cell)
  })

  it('tells of a call that needs input with its rounds', async () => {
    const recorder = play.start(play.record(server('modern-mcp.mjs')))
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    const params = { name: 'book', arguments: { what: 'a room' }, _meta }
    await recorder.send(say({ id: 1, method: 'tools/call', params }))
    const { result } = (await answerTo(recorder, 1)) as { result: { requestState: string } }
    const confirm = { action: 'accept', content: { ok: true } }
    const { requestState } = result
    const again = { ...params, requestState, inputResponses: { confirm } }
    await recorder.send(say({ id: 2, method: 'tools/call', params: again }))
    await answerTo(recorder, 2)
    recorder.stdin.end()
    await recorder.ended

    const page = await open(0)
    expect(await names(page)).toEqual([
      'tools/call',
      'result of tools/call',
      'tools/call',
      'result of tools/call',
    ])
    await story(page).locator('.asked-message', { hasText: 'Book a room?' }).waitFor()
    await story(page).locator('.asked-form dd', { hasText: 'true' }).waitFor()
    await story(page).locator('.tell-answer', { hasText: 'Booked a room' }).waitFor()
  })

  it('tells who held a call, for how long, and what became of it', async () => {
    writeFileSync(
      play.path('rules.yaml'),
      `
      rules:
        - { name: gone, when: 'dir:in id:1', drop: true }
        - { name: later, when: 'dir:in id:2', delay: 100ms }`,
    )
    const recorder = play.start(play.record(server('mini-mcp.mjs'), ['--rules', play.path('rules.yaml')]))
    await recorder.send(say({ id: 1, method: 'ping' }) + say({ id: 2, method: 'ping' }))
    await answerTo(recorder, 2)
    recorder.stdin.end()
    await recorder.ended

    const page = await open(0)
    await story(page).locator('.story-hold', { hasText: 'dropped by the rule gone' }).waitFor()
    await page.locator('.row', { hasText: 'ping' }).nth(1).click()
    await story(page)
      .locator('.story-hold', { hasText: /held by the rule later for \d.*, then forwarded/ })
      .waitFor()
    await story(page).locator('.story-bar .held').waitFor()
  })

  it('tells parallel calls over HTTP apart, and how long the response was awaited', async () => {
    const streams = new Map<unknown, ServerResponse>()
    const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`
    const upstream = await play.serve((request, response) => {
      void text(request).then((body) => {
        const { id, method } = JSON.parse(body) as { id: number; method?: string }
        if (method === 'initialize') {
          const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: {} }
          response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' })
          response.end(say({ id, result }))
          return
        }
        if (method === undefined) {
          response.writeHead(202).end()
          const result = { content: [{ type: 'text', text: `answer ${id}` }] }
          streams.get(id - 10)!.end(event({ id: id - 10, result }))
          return
        }
        streams.set(id, response.writeHead(200, { 'content-type': 'text/event-stream' }))
        if (streams.size < 2) return
        for (const [call, stream] of streams) {
          const requestedSchema = { type: 'object', properties: {} }
          const params = { message: `Sure of ${String(call)}?`, requestedSchema }
          stream.write(event({ id: Number(call) + 10, method: 'elicitation/create', params }))
        }
      })
    })
    const { recorder, url } = await play.recordUrl(upstream)
    const post = (message: {
      readonly id: number
      readonly method?: string
      readonly [name: string]: unknown
    }): Promise<Response> =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(message.method !== 'initialize' && { 'mcp-session-id': 'one' }),
        },
        body: say(message),
      })
    await (await post({ id: 0, method: 'initialize', params: {} })).text()
    const calls = [1, 2].map((id) => post({ id, method: 'tools/call', params: { name: `t${id}` } }))
    await until('both calls', () => streams.size === 2 || undefined)
    await Promise.all(calls)
    for (const id of [11, 12]) await post({ id, result: { action: 'decline' } })
    for (const call of calls) await (await call).text()
    await play.end(recorder)

    const page = await open(0)
    for (const id of [1, 2]) {
      await page.locator('.row', { hasText: `tools/call t${id}` }).click()
      await page.locator('.detail h2', { hasText: `t${id}` }).waitFor()
      await story(page)
        .locator('.asked-message', { hasText: `Sure of ${id}?` })
        .waitFor()
      expect(await names(page)).toEqual(['tools/call', 'elicitation/create', 'result of tools/call'])
      await story(page).locator('.pill', { hasText: 'declined' }).waitFor()
      const phases = story(page).locator('.http-phases').first()
      await phases.locator('dt', { hasText: 'stream' }).waitFor()
      const parts = await phases.locator('dt').allTextContents()
      expect(parts.slice(-2)).toEqual(['wait', 'stream'])
      const isReused = (await phases.textContent())!.includes('on a reused connection')
      expect(parts.includes('connect')).toBe(!isReused)
      expect(await phases.locator('.phase-time').last().textContent()).toMatch(/\d+ m?s/)
      expect(await story(page).locator('.tag').count()).toBe(0)
      // The response of the client is another HTTP exchange.
      await story(page).locator('.http-others', { hasText: 'result of elicitation/create' }).waitFor()
      expect(await story(page).locator('.http-others .phase-wait').count()).toBe(1)
    }
    await looked(page, 'story-http')

    // The server's request is shown as in the story of the call, with the client's HTTP exchange.
    await page.locator('.row', { hasText: 'Sure of 1?' }).first().click()
    await page.locator('.detail h2', { hasText: 'elicitation/create' }).waitFor()
    await story(page).locator('.tell-request .asked-message', { hasText: 'Sure of 1?' }).waitFor()
    await story(page).locator('.tell-request .pill', { hasText: 'declined' }).waitFor()
    expect(await story(page).locator('.tell-answer .story-body').textContent()).toBe(
      'result of elicitation/create ',
    )
    expect(await story(page).locator('.http-phases').count()).toBe(1)
    expect(await story(page).locator('.story-told').textContent()).not.toContain('without a response')
  })
})
