/** Messages that wiretape sent or held are not shown as a peer's, and a person's time is not counted for the server. */
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { everythingScript } from '../clients/everything.js'
import type { Page } from 'playwright-core'
import { attach } from '../behaviour/attach.js'
import { answerTo, call, endOf, ping } from '../behaviour/mini-talk.js'
import { cli, readIfThere, server, until, viewerAddress, useStage } from '../behaviour/stage.js'
import { picture, seriousFindings } from '../viewer/looks.js'
import { holds, rows } from '../viewer/on-the-page.js'
import { expectQuiet, hasBrowser, useViewer } from '../viewer/stage.js'

const rules = `rules:
  - { name: canned, when: 'tool:canned is:request', respond: { result: { content: [] } } }
`

/** Selects a row and returns the text of its details around the messages. */
async function detailOf(page: Page, row: string): Promise<string> {
  await page.locator('.list .row', { hasText: row }).first().click()
  await page.locator('.message-head').first().waitFor()
  return (await page.locator('.detail').textContent()) ?? ''
}

describe.skipIf(!hasBrowser)('what wiretape did itself', () => {
  const stage = useViewer()
  const play = useStage()

  for (const scheme of ['light', 'dark'] as const) {
    it(`is told apart in the viewer while it is recorded and afterwards (${scheme})`, async () => {
      writeFileSync(play.path('rules.yaml'), rules)
      const options = [
        '--break',
        'tool:wait is:request',
        '--break',
        'tool:echo is:result',
        '--rules',
        play.path('rules.yaml'),
      ]
      const recorder = play.start(play.record(server('mini-mcp.mjs'), options))
      const screen = await attach(play)
      await recorder.send(call(1, 'canned'))
      await answerTo(recorder, 1)
      await recorder.send(call(2, 'wait'))
      const request = await screen.held()
      await recorder.send(call(3, 'echo'))
      const answer = await screen.held(2)
      await recorder.send(ping(4))
      await answerTo(recorder, 4)

      const ui = play.start([process.execPath, cli, 'ui', '--no-open', play.tape()])
      const page = await stage.open(await viewerAddress(ui), {
        colorScheme: scheme,
      })
      await page.locator('.row', { hasText: 'ping' }).waitFor()
      expect(await rows(page)).toEqual([
        'tools/call canned ok',
        'tools/call wait held',
        'tools/call echo response held',
        'ping ok',
      ])
      const canned = page.locator('.list .row', { hasText: 'canned' })
      await canned.locator('.tag', { hasText: 'answered by rule canned' }).waitFor()
      expect(await canned.locator('.tag').count()).toBe(1)
      expect(await canned.locator('.latency').textContent()).toBe('')
      const colours = await page.evaluate<string[]>(
        `['canned', 'ping'].map((name) => getComputedStyle([...document.querySelectorAll('.list .row')].find((row) => row.textContent.includes(name)).querySelector('.status')).color)`,
      )
      expect(colours[0]).not.toBe(colours[1])
      const told = await detailOf(page, 'canned')
      expect(told).toContain('not forwarded: answered by wiretape')
      expect(told).toContain('wiretape to client, on behalf of the server')
      expect(told).toContain('sent by wiretape · rule canned')
      expect(await detailOf(page, 'wait')).toContain('held now')
      await page.keyboard.press('x')
      await page.locator('.row', { hasText: 'result of tools/call echo' }).waitFor()
      expect(await rows(page)).toContain('result of tools/call echo held')
      await picture(page, `own-answers-${scheme}`)
      expect(await seriousFindings(page)).toEqual([])
      await page.keyboard.press('x')
      // On a narrow screen, too, where only the list is visible.
      await page.setViewportSize({ width: 390, height: 844 })
      await page.getByRole('button', { name: 'Messages', exact: true }).last().click()
      await picture(page, `own-answers-${scheme}`)
      expect(
        await page.evaluate(`(() => {
          const [tag, row] = ['.list .row.ours .tag', '.list .row.ours'].map((one) => document.querySelector(one).getBoundingClientRect())
          return [tag.left < row.right - 150, row.width]
        })()`),
      ).toEqual([true, 390])
      await page.setViewportSize({ width: 1440, height: 900 })

      await screen.tell({ type: 'answer', message: request['message'], result: '{}' })
      await answerTo(recorder, 2)
      await screen.tell({ type: 'drop', message: answer['message'] })
      await holds(page, `document.querySelectorAll('.list .row .tag').length === 2`)
      await page.locator('.row', { hasText: 'response dropped' }).waitFor()
      await page.locator('.row .tag', { hasText: 'answered by a person' }).waitFor()
      expect(await rows(page)).toEqual([
        'tools/call canned ok',
        'tools/call wait ok',
        'tools/call echo response dropped',
        'ping ok',
      ])
      expect(
        await page.locator('.row', { hasText: 'tools/call wait' }).locator('.latency').textContent(),
      ).toBe('')
      expect(await detailOf(page, 'wait')).toContain('not forwarded: answered by wiretape')
      await page.keyboard.press('2')
      await page.locator('.shaft.ours').first().waitFor()
      await picture(page, `own-answers-sequence-${scheme}`)
      await page.keyboard.press('3')
      const numbers = page.locator('.grid tbody tr', { hasText: 'call wait' })
      await numbers.waitFor()
      expect((await numbers.locator('td').allTextContents()).join(' ')).not.toMatch(/\d (?:ms|s)\b/)
      await picture(page, `own-answers-tools-${scheme}`)
      expectQuiet(stage)
      await page.context().close()
      ui.child.kill('SIGINT')
      await ui.ended
      await endOf(play, recorder)
    })
  }

  it('does not say that responses to requests of wiretape itself were dropped', async () => {
    const recorder = play.start(play.record([process.execPath, everythingScript]))
    const clientInfo = { name: 'kettle', version: '1' }
    const params = { protocolVersion: '2025-11-25', clientInfo, capabilities: {} }
    await recorder.send(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
    await answerTo(recorder, 1)
    await recorder.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    const screen = await attach(play)
    const inject = (id: string, name: string, args: unknown): Promise<unknown> => {
      const given = { name, arguments: args, _meta: { progressToken: id } }
      const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: given })
      return screen.tell({ type: 'inject', direction: 'client_to_server', answer: 'keep', text })
    }
    await inject('a', 'trigger-long-running-operation', { duration: 0.1, steps: 1 })
    await inject('b', 'echo', {})
    await recorder.send(ping(4))
    await answerTo(recorder, 4)
    recorder.stdin.end()
    await recorder.ended
    // The list of recordings counts the error that only wiretape got, as `inspect` does.
    const { errors } = JSON.parse(readFileSync(play.tape(), 'utf8').trimEnd().split('\n').at(-1)!).wiretape
    expect(errors).toBe(1)
    stage.serve('/own.jsonl', { file: play.tape() })
    const page = await stage.open('/?trace=own.jsonl')
    await page.locator('.row', { hasText: 'ping' }).waitFor()
    const calls = async (): Promise<string[]> =>
      (await rows(page)).filter((row) => /tools\/call|progress/.test(row))
    // The progress belongs to its request.
    expect(await calls()).toEqual([
      'tools/call trigger-long-running-operation ok',
      'tools/call echo tool error',
    ])
    await page.locator('.troubles button', { hasText: '1 error' }).waitFor()
    await page.keyboard.press('x')
    await page.locator('.row', { hasText: 'notifications/progress' }).waitFor()
    expect(await calls()).toEqual([
      'tools/call trigger-long-running-operation ok',
      'notifications/progress wiretape only',
      'result of tools/call trigger-long-running-operation wiretape only',
      'tools/call echo tool error',
      'result of tools/call echo tool error',
    ])
    await picture(page, 'own-requests')
    expect(await seriousFindings(page)).toEqual([])
    const told = await detailOf(page, 'result of tools/call trigger-long-running-operation')
    expect(told).toContain('received only by wiretape, which sent the request')
    expect(told).not.toContain('dropped')
    await page.keyboard.press('x')
    expect(await detailOf(page, 'trigger-long-running-operation')).not.toContain('dropped')
    await page.getByRole('button', { name: 'Story' }).click()
    await page.locator('.story-hold', { hasText: 'received only by wiretape' }).first().waitFor()
    await page.locator('.detail', { hasText: 'The recording shows no fault' }).waitFor()
    const story = await page.locator('.detail').textContent()
    expect(story).toContain('only wiretape received the response, since it sent the request')
    expect(story).not.toContain('dropped')
    await picture(page, 'own-requests-story')
    await page.locator('.list .row', { hasText: 'tools/call echo' }).first().click()
    await page.locator('.story-told', { hasText: 'Invalid input' }).waitFor()
    await page.keyboard.press('3')
    const used = page.locator('.grid tbody tr', { hasText: 'echo' })
    await used.locator('td.bad', { hasText: '1' }).waitFor()
    expect(await used.textContent()).not.toContain('unanswered')
    expectQuiet(stage)
    await page.context().close()
  })

  it('says that a message was held when its recording ended', async () => {
    const recorder = play.start(play.record(server('mini-mcp.mjs'), ['--break', 'tool:wait is:request']))
    const screen = await attach(play)
    await recorder.send(call(2, 'wait'))
    await screen.held()
    await until(
      'the held message is on the tape',
      () => readIfThere(play.tape()).includes('"type":"held"') || undefined,
    )
    recorder.child.kill('SIGKILL')
    await recorder.ended
    stage.serve('/held.jsonl', { file: play.tape() })
    const page = await stage.open('/?trace=held.jsonl')
    expect(await detailOf(page, 'wait')).toContain('held when the recording ended, never forwarded')
    await page.context().close()
  })
})
