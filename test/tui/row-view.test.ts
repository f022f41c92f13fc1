import { describe, expect, it } from 'vitest'
import { parseFilter, type Filter } from '../../src/filter/index.js'
import { MessageLog } from '../../src/tui/message-log.js'
import { RowView } from '../../src/tui/row-view.js'

const meta =
  '{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"x","command":[],"mcpTapVersion":"1","wiretape":{"version":"1","session":"s","transport":"stdio","url":null,"segment":0,"redaction":"none","metadata":{}}}'

function message(seq: number, raw: object, more: object = {}): string {
  const rest = { id: `m${seq}`, seq, us: seq, ...more }
  const dir = 'result' in raw ? 'out' : 'in'
  return JSON.stringify({ t: '2026-01-01T00:00:01.000Z', dir, raw: { jsonrpc: '2.0', ...raw }, ...rest })
}

function filter(text: string): Filter {
  const parsed = parseFilter(text)
  if (!('filter' in parsed)) throw new Error(text)
  return parsed.filter
}

function rowsOf(view: RowView): (number | undefined)[] {
  return Array.from({ length: view.length }, (_, index) => view.at(index))
}

describe('a filter of very many rows', () => {
  it('looks at them bit by bit, shows those of the last one meanwhile, and misses none that came or changed', () => {
    const log = new MessageLog('stdio')
    const view = new RowView(log)
    log.line(meta)
    for (let n = 0; n < 1_000; n += 1)
      view.update(log.line(message(n, { id: n, method: n % 2 === 0 ? 'ping' : 'tools/list' })))
    view.setFilter(filter('method:ping'))
    expect(view.length).toBe(1_000)
    let turns = 1
    for (; !view.lookOn(0); turns += 1) {
      expect(view.length).toBe(1_000 + turns - 1)
      view.update(log.line(message(1_000 + turns - 1, { id: 1_000 + turns - 1, method: 'ping' })))
    }
    expect(turns).toBeGreaterThan(5)
    expect(rowsOf(view).filter((row) => row! < 1_000)).toEqual(Array.from({ length: 500 }, (_, n) => 2 * n))
    expect(view.length).toBe(500 + turns - 1)

    view.setFilter(filter('is:unanswered'))
    expect(view.lookOn(0)).toBe(false)
    // A row that was looked at is answered while others wait.
    view.update(log.line(message(5_000, { id: 4, result: {} }, { corr: 'm4' })))
    while (!view.lookOn(0));
    expect(rowsOf(view)).not.toContain(4)
    expect(rowsOf(view)).toContain(5)
    view.setFilter(undefined)
    expect(view.length).toBe(log.length)
  })
})
