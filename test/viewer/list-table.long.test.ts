import { beforeAll, describe, expect, it } from 'vitest'
import { listIn } from '../../viewer/json/list-in.js'
import { picture, seriousFindings } from './looks.js'
import { read } from './on-the-page.js'
import { hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

describe.skipIf(!hasBrowser)('a list of objects', () => {
  const stage = useViewer()
  beforeAll(async () => {
    const request = messageLine(
      'in',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"issues"}}',
    )
    const { id: corr } = JSON.parse(request) as { id: string }
    const issues = `[{"number":12345678901234567890,"title":"<b>bold</b> \\u202e","open":true},{"number":1.50,"title":"b","labels":["x"]}]`
    const raw = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}],"structuredContent":{"total":2,"issues":${issues}}}}`
    stage.serve('/issues.jsonl', tapeOf([request, messageLine('out', raw, { corr })]))
  })

  it('is a table with exact numbers, and JSON when it is asked for', async () => {
    const page = await stage.open('/?trace=issues.jsonl')
    await read(page, 2)
    await page.locator('.row', { hasText: 'issues' }).click()
    const list = page.locator('.list-table')
    await list.waitFor()
    expect(await list.locator('caption').textContent()).toBe('issues')
    expect(await list.locator('thead th').allTextContents()).toEqual(['number', 'title', 'open', 'labels'])
    expect(await list.locator('tbody tr').first().locator('td').allTextContents()).toEqual([
      '12345678901234567890',
      '<b>bold</b> \\u{202e}',
      'true',
      '',
    ])
    expect(await list.locator('tbody tr').nth(1).locator('td').allTextContents()).toEqual([
      '1.50',
      'b',
      '',
      '["x"]',
    ])
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'list-table')
    await page
      .locator('.block', { hasText: 'structured content' })
      .getByRole('button', { name: 'as JSON' })
      .click()
    await list.waitFor({ state: 'detached' })
  })
})

describe('a JSON text', () => {
  it('is a list only where a table says as much', () => {
    expect(listIn('[{"a":1}]')).toBeUndefined()
    expect(listIn('[1,2]')).toBeUndefined()
    expect(listIn('{"a":[{"x":1},{"x":2}],"b":[{"y":1},{"y":2}]}')).toBeUndefined()
    expect(listIn('[{},{}]')).toBeUndefined()
    expect(listIn('nothing')).toBeUndefined()
    const wide = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`c${i}`, i]))
    expect(listIn(JSON.stringify([wide, wide]))).toBeUndefined()
    expect(listIn(' [ {"a":"x\\n"} , {"b":1.0} ] ')).toEqual({
      member: '',
      columns: ['a', 'b'],
      rows: [
        ['x\n', ''],
        ['', '1.0'],
      ],
      left: 0,
    })
    expect(listIn(JSON.stringify(Array.from({ length: 600 }, () => ({ a: 1 }))))?.left).toBe(100)
  })
})
