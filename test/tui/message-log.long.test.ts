import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it, vi } from 'vitest'
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

const fill = (log: MessageLog, count: number): void => {
  log.line(meta)
  // Each line has its own JSON, so that no memory is shared by chance.
  for (let n = 0; n < count; n += 1) log.line(JSON.stringify(lines['requests that nobody answers']!(n)))
}

afterEach(() => vi.unstubAllEnvs())

describe('what a screen knows of a capture', () => {
  it.each(Object.keys(lines))('keeps at most 24 MB of the texts of %s in memory', (what) => {
    const log = new MessageLog('stdio')
    log.line(meta)
    const before = collected()
    for (let n = 0; n < 150; n += 1) log.line(JSON.stringify(lines[what]!(n)))
    expect(collected() - before).toBeLessThan(48 * 1024 * 1024)
    expect(log.length).toBe(what === 'a batch' ? 300 : 150)
    for (const row of [0, 1, 75, 149]) {
      const { record } = log.row(row)!
      expect('raw' in record ? record.raw : JSON.stringify(record)).toContain(text)
    }
    expect(log.faults).toBe(0)
    log.close()
  })

  it('shows every old message in full, byte for byte', () => {
    const log = new MessageLog('stdio')
    fill(log, 120)
    for (const n of [0, 1, 60, 119]) {
      expect(log.isForgotten(n)).toBe(false)
      const { raw } = lines['requests that nobody answers']!(n) as { raw: object }
      expect(log.textOf(n)).toBe(JSON.stringify(raw))
      expect(log.idOf(n)).toBe(uuid(n))
      expect(log.row(n)!.part!.envelope).toMatchObject({ id: String(n), subject: 'a-tool-with-a-name' })
    }
    log.close()
  })

  it('shows of an old message what its row says where no temporary file can be written', () => {
    vi.stubEnv('TMPDIR', '/nowhere')
    const log = new MessageLog('stdio')
    fill(log, 120)
    expect(log.isForgotten(60)).toBe(true)
    expect(log.textOf(60)).toBeUndefined()
    expect(log.idOf(60)).toBe(uuid(60))
    expect(log.row(60)!.part!.envelope).toMatchObject({
      id: '60',
      method: 'tools/call',
      subject: 'a-tool-with-a-name',
    })
    // The first ones went to the store's memory, before it needed a file.
    for (const row of [0, 119]) {
      expect(log.isForgotten(row)).toBe(false)
      expect(log.textOf(row)).toContain(text)
    }
    log.close()
  })

  it('writes no held message of a strict tape to a file, secrets included', () => {
    const log = new MessageLog('stdio')
    log.line(meta)
    log.settled()
    const held = JSON.stringify({ jsonrpc: '2.0', id: 'h', method: 'tools/call', params: { text } })
    log.hold({ type: 'held', message: 'held', direction: 'client_to_server', text: held, t, reason: 'hold' })
    log.gap()
    const row = log.firstHeld!
    fill(log, 120)
    expect(log.textOf(row)).toBe(held)
    log.release('held', 'forwarded')
    expect(log.isForgotten(row)).toBe(true)
    log.close()
  })

  it('keeps 250,000 small messages within 120 MB, of which the first can be reached', () => {
    const held = (): number => collected() + process.memoryUsage().arrayBuffers
    const log = new MessageLog('stdio')
    const before = held()
    log.line(meta)
    for (let n = 0; n < 250_000; n += 1) log.line(JSON.stringify(pair(n)))
    expect(held() - before).toBeLessThan(120 * 1024 * 1024)
    expect(log.length).toBe(250_000)
    expect(log.textOf(0)).toBe(JSON.stringify((pair(0) as { raw: object }).raw))
    expect(log.row(1)).toMatchObject({ peer: 0, latencyUs: 1 })
    log.close()
  })
})

/** Requests and their answers in turns. */
function pair(n: number): object {
  const id = n - (n % 2)
  const raw =
    n % 2 === 0
      ? { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo', arguments: { n } } }
      : { jsonrpc: '2.0', id, result: { content: [] } }
  const corr = n % 2 === 0 ? {} : { corr: uuid(id) }
  return { t, dir: n % 2 === 0 ? 'in' : 'out', raw, id: uuid(n), ...corr, seq: n, us: n }
}
