/** `wiretape stats`: the built program over a data folder. */
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDataFolder, daysAgo, expectSchema, toolCall } from './data-folder.js'

const data = createDataFolder()
afterAll(() => data.close())
const today = daysAgo(0)

beforeAll(() => {
  const tools = ['find', 'pay', 'refund'].map((name) => ({ name, inputSchema: { type: 'object' } }))
  const declined = { error: { code: -32603, message: 'declined' }, result: undefined }
  data.put('old.jsonl', {
    label: 'shop',
    at: daysAgo(20),
    server: { name: 'shop-server', version: '1' },
    asked: [toolCall('find', { q: 1 }, 'x', { ms: 40 })],
  })
  data.put('shop.jsonl', {
    label: 'shop',
    at: today,
    server: { name: 'shop-server', version: '1' },
    client: { name: 'my-agent', version: '2' },
    asked: [
      { method: 'tools/list', result: { tools } },
      toolCall('find', { q: 1 }, 'x', { ms: 10 }),
      toolCall('find', { q: 2 }, 'x', { ms: 20, result: { content: [], isError: true } }),
      toolCall('find', { q: 2 }, 'x', { ms: 30 }),
      toolCall('pay', { n: 1 }, '', { ms: 500, ...declined }),
      toolCall('pay', { n: 1 }, '', { ms: 700, ...declined }),
      toolCall('pay', { n: 2 }, '', { result: undefined }),
    ],
  })
  data.put('files.jsonl', {
    label: 'files',
    at: today,
    // A person held the request for 3 seconds: the server took 5 ms.
    asked: [],
    more: [...heldCall(today, 3_005_000, 3000)],
  })
})

function heldCall(at: Date, us: number, heldMs: number): object[] {
  const t = at.toISOString()
  const raw = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'read', arguments: {} } }
  const [asks, answers] = ['aaaaaaaa-1111-4111-8111-000000000001', 'aaaaaaaa-1111-4111-8111-000000000002']
  return [
    { t, type: 'held', dir: 'in', raw, id: asks, seq: 0, us: 0 },
    { t, dir: 'in', raw, id: asks, seq: 0, us: 0, heldMs },
    { t, dir: 'out', raw: { jsonrpc: '2.0', id: 1, result: {} }, id: answers, corr: asks, seq: 1, us },
  ]
}

/** Four held messages: one forwarded, one edited, one dropped, one answered by a rule. One more is injected. */
function touched(at: Date): object[] {
  const t = new Date(at.getTime() - 3_600_000).toISOString()
  const id = (n: number): string => `bbbbbbbb-1111-4111-8111-${`${n}`.padStart(12, '0')}`
  const asks = (n: number, more: object): object => {
    const raw = { jsonrpc: '2.0', id: n, method: 'tools/call', params: { name: 'read', arguments: {} } }
    return { t, dir: 'in', raw, id: id(n), seq: n, us: n, ...more }
  }
  const held = { type: 'held' }
  const dropped = (n: number): object => ({ t, type: 'dropped', id: id(n), why: 'a person' })
  const answer = { t, dir: 'out', raw: { jsonrpc: '2.0', id: 3, result: {} }, id: id(4), corr: id(3) }
  return [
    asks(0, held),
    asks(0, { heldMs: 5 }),
    asks(1, held),
    asks(1, { heldMs: 5, modified: true }),
    asks(2, held),
    dropped(2),
    asks(3, held),
    dropped(3),
    { ...answer, seq: 4, us: 9, injected: true },
    asks(5, { injected: true }),
  ]
}

interface Stats {
  readonly gate: object
  readonly recordings: number
  readonly groups: readonly Record<string, unknown>[]
  readonly neverCalled: readonly object[]
}

async function stats(...args: string[]): Promise<Stats> {
  const { stdout, stderr, code } = await data.run('stats', ...args, '--json')
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  expectSchema('stats', JSON.parse(stdout))
  return JSON.parse(stdout) as Stats
}

describe('stats', () => {
  it('shows count, errors and latency of each tool, the slowest first', async () => {
    const { groups, neverCalled, recordings } = await stats()
    expect(recordings).toBe(3)
    expect(groups).toMatchObject([
      {
        name: 'pay',
        server: 'shop-server',
        calls: 3,
        errors: 2,
        p50Us: 500_000,
        p95Us: 700_000,
        slowest: { recording: 'shop.jsonl', us: 700_000 },
        retries: 1,
        unanswered: 1,
      },
      { name: 'find', calls: 4, errors: 1, p50Us: 20_000, p99Us: 40_000, retries: 1, unanswered: 0 },
      { name: 'read', server: 'files', calls: 1, p50Us: 5000 },
    ])
    expect(neverCalled).toEqual([{ server: 'shop-server', tool: 'refund' }])
  })

  it('counts the response to an injected call, which only wiretape received', async () => {
    const t = today.toISOString()
    const [asks, answers] = [1, 2].map((n) => `cccccccc-1111-4111-8111-00000000000${n}`)
    const raw = { jsonrpc: '2.0', id: 'a', method: 'tools/call', params: { name: 'ours', arguments: {} } }
    const refused = { jsonrpc: '2.0', id: 'a', error: { code: -32602, message: 'no' } }
    const more = [
      { t, dir: 'in', raw, id: asks, seq: 0, us: 0, injected: true },
      { type: 'held', t, dir: 'out', raw: refused, id: answers, corr: asks, seq: 1, us: 7000 },
      { type: 'dropped', t, id: answers, us: 8000, why: 'own' },
    ]
    const path = data.put('ours.jsonl', { label: 'ours', at: today, asked: [], more })
    const { groups } = await stats('ours')
    expect(groups).toMatchObject([{ name: 'ours', calls: 1, errors: 1, p50Us: 7000, unanswered: 0 }])
    const { stdout } = await data.run('inspect', path)
    expect(stdout).toMatch(/error of #0 tools\/call ours .*wiretape only/)
    expect(stdout).not.toContain('dropped')
    rmSync(path)
  })

  it('counts what a person or a rule held, changed, dropped, answered and injected, as inspect does', async () => {
    const path = data.put('gate.jsonl', { label: 'gate', at: today, asked: [], more: touched(today) })
    const { gate } = await stats('gate')
    expect(gate).toEqual({ held: 4, modified: 1, dropped: 1, answeredHere: 1, injected: 2 })
    const said = '4 held · 1 edited · 1 dropped · 1 answered by wiretape · 2 injected'
    expect((await data.run('stats', 'gate')).stdout).toContain(`\n${said}\n`)
    expect((await data.run('inspect', path)).stdout.replaceAll('\n', ' ')).toContain(said)
    expect((await stats('gate', '--since', '1m')).gate).toMatchObject({ held: 0, modified: 0, injected: 0 })
    rmSync(path)
  })

  it('prints a table with names of recordings for further commands', async () => {
    const { stdout, code } = await data.run('stats', 'shop')
    const lines = stdout.split('\n')
    expect(code).toBe(0)
    expect(lines[0]).toMatch(
      /^tool +calls +errors +p50 +p95 +p99 +bytes +retries( +cancelled)? +unanswered +slowest$/,
    )
    expect(lines[1]).toMatch(/^pay +3 +2 +500 ms +700 ms +700 ms +\S+ k?B +1 +1 +700 ms \(shop #\d+\)$/)
    expect(lines.slice(-3)).toEqual(['7 calls in 2 recordings', 'never called: refund', ''])
  })

  it.each([
    ['server', ['files', 'shop-server']],
    ['client', ['my-agent']],
    ['method', ['tools/call', 'tools/list', 'initialize']],
  ])('counts by %s', async (by, names) => {
    const { groups } = await stats('--by', by)
    const found = groups.map(({ name }) => name)
    expect(found).toEqual(expect.arrayContaining(names))
  })

  it('counts by day, and only since a time', async () => {
    expect((await stats('--by', 'day')).groups).toHaveLength(2)
    const { groups } = await stats('--since', '7d', '--by', 'day')
    expect(groups).toMatchObject([{ calls: 7 }])
  })

  it('takes a recording by any name, and refuses one that does not exist', async () => {
    expect((await stats('latest~2')).groups).toMatchObject([{ name: 'find', calls: 1 }])
    const { code, stderr } = await data.run('stats', 'nobody')
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot read nobody') })
    expect((await data.run('stats', '--by', 'moon')).stderr).toMatch(
      /^wiretape: .*moon.*Allowed choices are tool/,
    )
  })
})
