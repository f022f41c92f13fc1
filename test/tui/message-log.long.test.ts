import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { MessageLog } from '../../src/tui/message-log.js'

const t = '2026-01-01T00:00:00.000Z'
const meta = `{"v":1,"type":"meta","startedAt":"${t}","label":"files","command":["node"],"wiretape":{"version":"0.1.0","session":"s","transport":"stdio","url":null,"segment":0,"redaction":"none","metadata":{}}}`
const text = 'x'.repeat(1_000_000)
const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

/** Lines of a tape, each with a million characters. */
const lines: Record<string, (n: number) => object> = {
  'requests that nobody answers': (n) => ({
    t,
    dir: 'in',
    raw: {
      jsonrpc: '2.0',
      id: n,
      method: 'tools/call',
      params: { name: 'a-tool-with-a-name', arguments: { text } },
    },
    id: uuid(n),
    seq: n,
    us: n,
  }),
  'a batch': (n) => ({
    t,
    dir: 'in',
    raw: [
      { jsonrpc: '2.0', method: 'notifications/one', params: { text } },
      { jsonrpc: '2.0', method: 'notifications/two' },
    ],
    id: uuid(2 * n),
    batch: [{ id: uuid(2 * n) }, { id: uuid(2 * n + 1) }],
    seq: 2 * n,
    us: n,
  }),
  'lines on stderr': (n) => ({ t, type: 'stderr', text, us: n }),
  'bodies over HTTP': (n) => ({
    t,
    type: 'http',
    exchange: n,
    method: 'GET',
    path: '/',
    status: 200,
    body: text,
    us: n,
  }),
}

/** Characters that live in the memory of the engine are bytes. */
function collected(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed
}

describe('what a screen knows of a capture', () => {
  it.each(Object.keys(lines))('keeps at most 96 MB of the texts of %s', (what) => {
    const log = new MessageLog('stdio')
    log.line(meta)
    const before = collected()
    // JSON of its own for each line: nothing is shared by chance.
    for (let n = 0; n < 150; n += 1) log.line(JSON.stringify(lines[what]!(n)))
    expect(collected() - before).toBeLessThan(120 * 1024 * 1024)
    expect(log.length).toBe(what === 'a batch' ? 300 : 150)
    expect(log.row(0)).toMatchObject({ row: 0 })
    expect(log.faults).toBe(0)
  })

  it('shows of an old message what its row says, and of a new one all', () => {
    const log = new MessageLog('stdio')
    log.line(meta)
    for (let n = 0; n < 120; n += 1) log.line(JSON.stringify(lines['requests that nobody answers']!(n)))
    expect(log.isForgotten(0)).toBe(true)
    expect(log.textOf(0)).toBeUndefined()
    expect(log.idOf(0)).toBe(uuid(0))
    expect(log.row(0)!.part!.envelope).toMatchObject({
      id: '0',
      method: 'tools/call',
      subject: 'a-tool-with-a-name',
    })
    expect(log.isForgotten(119)).toBe(false)
    expect(log.textOf(119)).toContain(text)
  })
})
