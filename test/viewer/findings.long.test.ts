import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ask, called, listed, opened, tapeOf } from '../findings/stage.js'
import { createStage, expectQuiet, hasBrowser, holds, read, type Stage } from './stage.js'

const schema = { type: 'object', properties: { n: { type: 'number' } } }
const tool = { name: 'add', description: 'Adds two numbers.', outputSchema: schema }
const result = (n: unknown): object => ({ content: [], structuredContent: { n } })
const note = { type: 'note', text: 'a note has a row of its own here' }

describe.skipIf(!hasBrowser)('findings in the viewer', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await createStage()
    const lines = [...opened(), note, ...listed(tool), ...called('add', {}, result(1))]
    const bad = called('add', { path: '../../etc/passwd' }, result('x'))
    const open = ask('tools/list')
    stage.serve('/bad.jsonl', tapeOf([...lines, ...bad, ...open], { wiretape: { session: 'bad' } }))
  })
  beforeEach(() => stage.requests())
  afterAll(() => stage.close())

  it('are asked for by the filter, by rule, pack and level', async () => {
    const page = await stage.open('/?trace=bad.jsonl')
    await read(page, 11)
    for (const [filter, wanted] of [
      ['finding:schemas/output', ['passwd']],
      ['finding:safety', ['passwd']],
      ['level:error', ['passwd']],
      ['level:note', ['passwd', 'tools/list']],
      ['finding:* level:warning', []],
    ] as const) {
      await page.fill('[data-find=filter]', filter)
      await holds(page, `document.querySelectorAll('.list .scroller .row').length === ${wanted.length}`)
      const shown = await page.locator('.list .scroller .row').allTextContents()
      for (const [i, part] of wanted.entries()) expect(shown[i]).toContain(part)
    }
    await page.fill('[data-find=filter]', 'finding:schemas/o')
    await page.locator('text=schemas/output').first().waitFor()
    expectQuiet(stage)
    await page.context().close()
  })
})
