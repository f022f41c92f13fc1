import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { answerTo } from '../behaviour/mini-talk.js'
import {
  createStage as createPlayStage,
  printed,
  server,
  type Stage as PlayStage,
} from '../behaviour/stage.js'
import { createStage, expectQuiet, hasBrowser, picture, seriousFindings, type Stage } from './stage.js'

const say = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

describe.skipIf(!hasBrowser)('the story of a call', () => {
  let stage: Stage
  let play: PlayStage
  beforeAll(async () => {
    stage = await createStage()
  })
  afterAll(() => stage.close())
  beforeEach(() => {
    stage.complaints.length = 0
    play = createPlayStage()
  })
  afterEach(() => play.close())

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
      say({ id: 'form-1', result: { action: 'accept', content: { seats: 2, class: 'second' } } }),
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
      'remark string',
    ])
    expect(await story.locator('.asked-form dd').allTextContents()).toEqual(['2', 'second', 'no answer'])
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
    await story.locator('.story-sum', { hasText: 'It was cancelled and not answered.' }).waitFor()
    await story.locator('.tell-cancel', { hasText: 'The user left' }).waitFor()
    expectQuiet(stage)
    await page.context().close()
  })
})
