import { beforeAll, describe, expect, it } from 'vitest'
import { holds, read, rows } from './on-the-page.js'
import { hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

const idOf = (line: string): string => (JSON.parse(line) as { id: string }).id
const call = (id: number, name: string, args: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })
const text = (id: number, said: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: said }] } })

/** A session with everything that may happen to an exchange. */
function eventful(): string {
  const list = (id: number, ...tools: object[]): string[] => {
    const asked = messageLine('in', `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`)
    const result = JSON.stringify({ jsonrpc: '2.0', id, result: { tools } })
    return [asked, messageLine('out', result, { corr: idOf(asked) })]
  }
  const schema = { type: 'object', properties: { q: { type: 'string' } } }
  const asks = messageLine(
    'in',
    call(1, 'ask', { deep: { er: { value: 'findable' } }, token: '[REDACTED]' }),
    {
      red: [{ at: '/params/arguments/token', tag: 'a1b2' }],
    },
  )
  const sampling = messageLine(
    'out',
    '{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}',
  )
  const slow = messageLine('in', call(2, 'slow'))
  const failing = messageLine('in', call(3, 'failing'))
  return tapeOf(
    [
      ...list(10, { name: 'ask', inputSchema: schema }, { name: 'old', inputSchema: schema }),
      asks,
      sampling,
      messageLine('in', '{"jsonrpc":"2.0","id":1,"result":{"role":"assistant"}}', { corr: idOf(sampling) }),
      messageLine('out', text(1, '{"inner":{"json":[1,2]}}'), { corr: idOf(asks) }),
      slow,
      messageLine(
        'out',
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}',
        { linked: [{ kind: 'progress', to: idOf(slow) }] },
      ),
      messageLine('in', '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}', {
        linked: [{ kind: 'cancel', to: idOf(slow) }],
      }),
      failing,
      messageLine('out', '{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"broken"}}', {
        corr: idOf(failing),
      }),
      messageLine('out', '{"jsonrpc":"2.0","id":77,"result":{}}'),
      '{"type":"noise","t":"2026-08-01T10:00:02.000Z","us":2000000,"dir":"out","text":"Server ready!"}',
      '{"type":"stderr","t":"2026-08-01T10:00:02.500Z","us":2500000,"text":"warning: low memory"}',
      ...list(11, { name: 'ask', inputSchema: { ...schema, required: ['q'] } }),
    ],
    'eventful',
  )
}

describe.skipIf(!hasBrowser)('a person who looks at a session', () => {
  const stage = useViewer()
  beforeAll(async () => {
    stage.serve('/e.jsonl', eventful())
  })

  it('sees how each exchange went, and unfolds all that belongs to it', async () => {
    const page = await stage.open('/?trace=e.jsonl')
    await read(page, 16)
    expect(await rows(page)).toEqual([
      'tools/call ask ok',
      'sampling/createMessage ok',
      'tools/call slow cancelled',
      'tools/call failing -32000',
      'tools/list ok',
      'result unmatched: no request in this recording ok',
      'tools/list ok',
      'not JSON Server ready!',
      'stderr warning: low memory',
    ])
    await page.locator('.status-bar', { hasText: '9 rows shown · 14 messages, 2 other entries' }).waitFor()
    await page.locator('.row', { hasText: 'tools/call slow' }).click()
    await page.locator('.steps li').first().waitFor()
    expect(await page.locator('.steps .step-name').allTextContents()).toEqual([
      expect.stringContaining('tools/call'),
      expect.stringContaining('notifications/progress'),
      expect.stringContaining('notifications/cancelled'),
    ])
    // A call without a response unfolds, too.
    const slow = page.locator('.row', { hasText: 'tools/call slow' })
    await slow.locator('.fold button').click()
    await page.locator('.row.nested', { hasText: 'notifications/cancelled' }).waitFor()
    expect(await page.locator('.row.nested').count()).toBe(2)
    await slow.locator('.fold button').click()
    await page.locator('.row', { hasText: 'tools/call ask' }).click()
    await page.keyboard.press('e')
    const nested = page.locator('.row.nested')
    await nested.first().waitFor()
    expect(await nested.locator('.name').allTextContents()).toEqual([
      expect.stringContaining('sampling/createMessage'),
      expect.stringContaining('result of tools/call'),
    ])
    await page.keyboard.press('E')
    await holds(page, `document.querySelectorAll('.row.nested').length === 0`)
    await page.keyboard.press('x')
    await holds(page, `document.querySelectorAll('.list .scroller .row').length === 16`)
    for (const [key, name] of [
      ['n', 'error of tools/call'],
      ['n', 'unmatched'],
      ['N', 'error of tools/call'],
    ] as const) {
      await page.keyboard.press(key)
      await page.locator('.row.selected', { hasText: name }).waitFor()
    }
  })

  it('reads JSON by folding and searching, also inside of text, and sees what redaction took', async () => {
    const page = await stage.open('/?trace=e.jsonl')
    await read(page, 16)
    await page.locator('.row', { hasText: 'tools/call ask' }).click()
    await page.locator('.around summary', { hasText: '1 value redacted' }).waitFor()
    await page.locator('.json .tag.redacted').waitFor()
    const found = page.locator('.json .string', { hasText: 'findable' })
    await found.waitFor()
    await page.locator('.json .node', { hasText: 'deep' }).locator('.twist').nth(1).click()
    await found.waitFor({ state: 'detached' })
    await page.keyboard.press('s')
    await page.keyboard.type('FINDABLE')
    await page.locator('.json mark', { hasText: 'findable' }).waitFor()
    await page.locator('[aria-label="JSON inside text"] .key', { hasText: 'inner' }).waitFor()
    await page.locator('.block-kind button', { hasText: 'as text' }).click()
    await page.locator('.plain-text', { hasText: '{"inner":{"json":[1,2]}}' }).waitFor()
    await page.locator('.modes button', { hasText: 'Raw' }).first().click()
    await page.locator('.plain-text.raw', { hasText: '"method":"tools/call"' }).waitFor()
  })

  it('zooms the timeline with the wheel, moves it with Shift, and sees everything again', async () => {
    const page = await stage.open('/?trace=e.jsonl')
    await read(page, 16)
    const canvas = page.locator('.timeline canvas')
    const picture = (): Promise<string> =>
      page.evaluate(`document.querySelector('.timeline canvas').toDataURL()`)
    const whole = await picture()
    await canvas.hover({ position: { x: 300, y: 30 } })
    await page.mouse.wheel(0, -600)
    await page.locator('.timeline-all').waitFor()
    await holds(page, `document.querySelector('.timeline canvas').toDataURL() !== ${JSON.stringify(whole)}`)
    const near = await picture()
    await page.keyboard.down('Shift')
    await page.mouse.wheel(0, 200)
    await page.keyboard.up('Shift')
    await holds(page, `document.querySelector('.timeline canvas').toDataURL() !== ${JSON.stringify(near)}`)
    await page.locator('.timeline-all').click()
    await holds(page, `document.querySelector('.timeline canvas').toDataURL() === ${JSON.stringify(whole)}`)
    await canvas.click({ position: { x: 4, y: 22 } })
    await page.locator('.row.selected').waitFor()
  })

  it('draws as a sequence what the filter leaves, an arrow for every message', async () => {
    const page = await stage.open('/?trace=e.jsonl#view=sequence')
    await read(page, 16)
    await page.locator('.arrow-row').nth(15).waitFor()
    await page.fill('[data-find=filter]', 'tool:slow')
    await holds(page, `document.querySelectorAll('.arrow-row').length === 3`)
    expect(await page.locator('.arrow-row .arrow-label').allTextContents()).toEqual([
      'tools/call slow',
      expect.stringContaining('notifications/progress'),
      expect.stringContaining('notifications/cancelled'),
    ])
    await page.locator('.arrow-row').first().click()
    await page.locator('.detail h2', { hasText: 'slow' }).waitFor()
    await page.fill('[data-find=filter]', '')
    await page.keyboard.press('Escape')
    await page.locator('.arrow-row').nth(15).waitFor()
    await page.locator('.arrow-row.kind-request', { hasText: 'tools/call ask' }).click()
    await page.keyboard.press('v')
    await holds(page, `document.querySelectorAll('.arrow-row').length === 4`)
    expect(await page.locator('.arrow-row .arrow-label').allTextContents()).toEqual([
      'tools/call ask',
      'sampling/createMessage ',
      expect.stringContaining('sampling/createMessage'),
      expect.stringContaining('tools/call'),
    ])
    await page.locator('.chosen-only[aria-pressed=true]').click()
    await page.locator('.arrow-row').nth(15).waitFor()
  })

  it('learns what a server offers, and when that changed', async () => {
    const page = await stage.open('/?trace=e.jsonl#view=tools')
    await page.locator('.offer-changes li').first().waitFor()
    const changes = await page.locator('.offer-changes li').allTextContents()
    expect(changes.join('\n')).toMatch(/breaking.*old/)
    expect(await page.locator('.offer-list summary b').allTextContents()).toEqual(['ask'])
    await page
      .locator('.grid tbody tr', { hasText: 'failing' })
      .locator('.bad', { hasText: '100 %' })
      .waitFor()
    await page.locator('.grid tbody tr', { hasText: 'failing' }).locator('th button').click()
    await holds(page, `document.querySelectorAll('.list .scroller .row').length === 1`)
    expect(await page.inputValue('[data-find=filter]')).toContain('tool:failing')
  })

  it('sees what is the same, changed, missing and new in another recording', async () => {
    stage.serve(
      '/other.jsonl',
      eventful()
        .replace(String.raw`\"json\":[1,2]`, String.raw`\"json\":[1,3]`)
        .replaceAll('failing', 'renamed'),
    )
    const page = await stage.open('/?diff=e.jsonl;other.jsonl')
    await page.locator('.comparison').first().waitFor()
    expect((await page.locator('.comparison .verdict').allTextContents()).toSorted()).toEqual([
      'changed',
      'missing',
      'new',
    ])
    await page.locator('.verdicts button', { hasText: 'same' }).click()
    await page.locator('.comparison', { hasText: 'tools/list' }).first().waitFor()
  })

  it('chooses light or dark, whatever the system says', async () => {
    const page = await stage.open('/?trace=e.jsonl', { colorScheme: 'dark' })
    await read(page, 16)
    const paper = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const dark = await paper()
    await page.keyboard.press('t')
    await holds(page, `document.documentElement.dataset.theme === 'light'`)
    expect(await paper()).not.toBe(dark)
    await page.keyboard.press('t')
    await holds(page, `document.documentElement.dataset.theme === 'dark'`)
    expect(await paper()).toBe(dark)
  })
})
