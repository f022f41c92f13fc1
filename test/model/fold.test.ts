import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFold, factsOf, isUnanswered, type Fold, type TapeRecord } from '../../src/model/index.js'
import { decodeLine } from '../../src/formats/index.js'
import { idKey } from '../../src/wire/index.js'
import { heldBytes } from './heap.js'
import { isLong } from '../long.js'

function foldOf(lines: readonly (object | string)[]): Fold {
  const fold = createFold(idKey)
  for (const line of lines) fold.push(recordOf(line))
  return fold
}

function recordOf(line: object | string): TapeRecord {
  const decoded = decodeLine(typeof line === 'string' ? line : JSON.stringify(line))
  if (!('record' in decoded)) throw new Error(decoded.fault.message)
  return decoded.record
}

const t = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()
const foreign = { v: 1, type: 'meta', startedAt: t(0), label: 'other', command: ['node', 's.js'] }
const identity = {
  version: '0.1.0',
  session: 'S',
  transport: 'stdio',
  url: null,
  segment: 0,
  redaction: 'none',
  metadata: { target: 'prod' },
}
const own = { ...foreign, label: 'own', wiretape: identity }
const message = (dir: 'in' | 'out', raw: object, more: object = {}): object => ({
  t: t(5),
  dir,
  raw: { jsonrpc: '2.0', ...raw },
  ...more,
})
const end = (wiretape?: object, more: object = {}): object => ({
  t: t(9),
  type: 'end',
  exitCode: 0,
  durationMs: 9,
  ...more,
  ...(wiretape && { wiretape }),
})

describe('sessions', () => {
  it('take from our meta and end line what they say', () => {
    const [session] = foldOf([own, end({ messages: 0, signal: 'SIGTERM' }, { exitCode: 143 })]).sessions
    expect(session).toMatchObject({
      id: 'S',
      label: 'own',
      startedAt: t(0),
      endedAt: t(9),
      transport: 'stdio',
      command: ['node', 's.js'],
      url: null,
      metadata: [['target', '"prod"']],
      segments: [0],
      complete: true,
      continues: false,
      exitCode: 143,
      durationMs: 9,
      signal: 'SIGTERM',
    })
  })

  it('of other recorders get a made-up id', () => {
    const [session] = foldOf([foreign, end()]).sessions
    expect(session).toMatchObject({ id: 'session-1', label: 'other', complete: true, metadata: [] })
  })

  it('without end are incomplete', () => {
    expect(foldOf([own]).sessions[0]).toMatchObject({ complete: false, continues: false, endedAt: null })
  })

  it('whose end does not say how are ended, with nothing made up', () => {
    const [session] = foldOf([foreign, { type: 'end', t: t(1), exitCode: null }]).sessions
    expect(session).toMatchObject({ complete: true, endedAt: t(1) })
    expect(session).not.toHaveProperty('exitCode')
    expect(session).not.toHaveProperty('durationMs')
  })

  it('whose end was added by recover have no exit code', () => {
    const [session] = foldOf([own, end({ messages: 0, recovered: true }, { exitCode: 1 })]).sessions
    expect(session).toMatchObject({ complete: true, recovered: true })
    expect(session).not.toHaveProperty('exitCode')
  })

  it('of several segments are one, numbered on, and linked across', () => {
    const fold = foldOf([
      own,
      message('in', { id: 1, method: 'ping' }, { id: 'a', seq: 0, us: 10 }),
      end({ messages: 1, rotated: true }),
      { ...own, wiretape: { ...identity, segment: 1 } },
      message('out', { id: 1, result: {} }, { id: 'b', corr: 'a', seq: 1, us: 30 }),
      end({ messages: 1 }, { exitCode: 3 }),
    ])
    expect(fold.sessions).toHaveLength(1)
    expect(fold.sessions[0]).toMatchObject({ segments: [0, 1], complete: true, exitCode: 3 })
    expect(fold.entries.peer(1)).toBe(0)
    expect(fold.counts()).toMatchObject({ messages: 2, unanswered: 0, orphans: 0 })
  })

  it('that go on in a segment which is not there say so, and not how the server ended', () => {
    const [session] = foldOf([own, end({ messages: 0, rotated: true })]).sessions
    expect(session).toMatchObject({ complete: false, continues: true, endedAt: null })
    expect(session).not.toHaveProperty('exitCode')
  })

  it('cut off in their second segment do not take the end of the first', () => {
    const [session] = foldOf([
      own,
      end({ messages: 0, rotated: true }),
      { ...own, wiretape: { ...identity, segment: 1 } },
    ]).sessions
    expect(session).toMatchObject({ complete: false, continues: false, endedAt: null })
    expect(session).not.toHaveProperty('exitCode')
  })

  it('one after the other in one file stay apart, ids and numbers too', () => {
    const ask = message('in', { id: 1, method: 'ping' })
    const fold = foldOf([foreign, ask, end(), { ...foreign, label: 'second' }, ask, end()])
    expect(fold.sessions.map(({ id, label }) => [id, label])).toEqual([
      ['session-1', 'other'],
      ['session-2', 'second'],
    ])
    expect([fold.entries.seq(0), fold.entries.seq(1)]).toEqual([0, 0])
    expect(fold.counts()).toMatchObject({ duplicates: 0, unanswered: 2 })
  })

  it('tell both eras, the agreed version and who spoke', () => {
    const fold = foldOf([
      foreign,
      message('in', {
        id: 0,
        method: 'server/discover',
        params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
      }),
      message('out', { id: 0, error: { code: -32601, message: 'no' } }),
      message('in', {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', clientInfo: { name: 'c', version: '1' } },
      }),
      message('out', {
        id: 1,
        result: { protocolVersion: '2025-06-18', serverInfo: { name: 's', version: '2' } },
      }),
    ])
    expect(fold.sessions[0]).toMatchObject({
      eras: ['modern', 'legacy'],
      protocolVersion: '2025-06-18',
      client: { name: 'c', version: '1' },
      server: { name: 's', version: '2' },
    })
  })
})

describe('messages', () => {
  it('of other recorders are correlated, even when their lines have an `id` of their own', () => {
    const fold = foldOf([
      foreign,
      message('in', { id: 1, method: 'a' }, { id: 'line-1' }),
      message('out', { id: 1, result: {} }, { id: 'line-2', t: t(12) }),
      message('out', { id: 1, result: {} }, { id: 'line-3' }),
      message('out', { id: 9, result: {} }),
    ])
    expect(fold.entries.peer(0)).toBe(1)
    expect(fold.entries.peer(2)).toBe(0)
    expect(fold.entries.us(1) - fold.entries.us(0)).toBe(7000)
    expect(fold.counts()).toMatchObject({ late: 1, orphans: 1, unanswered: 0 })
  })

  it('of ours keep the links that were stored, whatever their content looks like now', () => {
    const fold = foldOf([
      own,
      message('in', { id: '[REDACTED]', method: 'a' }, { id: 'a', seq: 0 }),
      message('in', { id: '[REDACTED]', method: 'b' }, { id: 'b', seq: 1 }),
      message('out', { id: '[REDACTED]', result: {} }, { id: 'c', seq: 2, corr: 'b' }),
      message('out', { id: '[REDACTED]', result: {} }, { id: 'd', seq: 3, corr: 'a', late: true }),
    ])
    expect(fold.entries.peer(2)).toBe(1)
    expect(fold.entries.peer(3)).toBe(0)
    expect(fold.counts()).toMatchObject({ duplicates: 0, unanswered: 0, late: 1 })
  })

  it('whose request is in a deleted segment are no orphans', () => {
    const fold = foldOf([
      { ...own, wiretape: { ...identity, segment: 4 } },
      message('out', { id: 1, result: {} }, { id: 'x', seq: 90, corr: 'gone' }),
    ])
    expect(fold.counts()).toMatchObject({ orphans: 0, results: 1 })
    expect(fold.entries.peer(0)).toBe(-1)
  })

  it('in batches are rows of their own', () => {
    const fold = foldOf([
      foreign,
      {
        t: t(1),
        dir: 'in',
        raw: [
          { jsonrpc: '2.0', id: 1, method: 'a' },
          { jsonrpc: '2.0', method: 'ü' },
        ],
      },
      { t: t(2), dir: 'out', raw: [{ jsonrpc: '2.0', id: 1, result: {} }] },
      { t: t(2), dir: 'out', raw: [] },
    ])
    expect(fold.entries.length).toBe(4)
    expect(fold.entries.has(1, 'batch')).toBe(true)
    expect(fold.entries.size(1)).toBe(Buffer.byteLength('{"jsonrpc":"2.0","method":"ü"}'))
    expect(fold.entries.peer(2)).toBe(0)
    expect([0, 1, 2, 3].map((row) => fold.entries.seq(row))).toEqual([0, 1, 2, 3])
    expect(fold.counts()).toMatchObject({ requests: 1, notifications: 1, results: 1, invalid: 1 })
  })

  it('are counted by what they are and by what became of them', () => {
    const fold = foldOf([
      own,
      message('in', { id: 1, method: 'a' }, { id: 'a', seq: 0 }),
      message(
        'in',
        { method: 'notifications/cancelled', params: { requestId: 1 } },
        {
          id: 'b',
          seq: 1,
          linked: [{ kind: 'cancel', to: 'a' }],
        },
      ),
      message('in', { id: 2, method: 'b' }, { id: 'c', seq: 2 }),
      message('in', { id: 2, method: 'b' }, { id: 'd', seq: 3, dup: 'c' }),
      message('out', { id: 3, result: { isError: true } }, { id: 'e', seq: 4 }),
      message('in', { id: 4, method: 'subscriptions/listen' }, { id: 'f', seq: 5 }),
      message('in', { id: 5, method: 'c' }, { id: 'g', seq: 6 }),
      message('out', { id: 6, error: { code: 1, message: '' } }, { id: 'h', seq: 7 }),
      { t: t(5), dir: 'out', raw: 7 },
      { type: 'noise', t: t(5), dir: 'out', text: 'hello' },
      { type: 'stderr', t: t(5), text: 'log' },
      { type: 'gap', t: t(5), lost: 3, stderr: 1, bytes: 10, why: 'disk full' },
      { type: 'undelivered', t: t(6), id: 'g', why: 'closed' },
      { type: 'undelivered', t: t(6), id: 'unknown', why: 'closed' },
      { type: 'later-version', anything: true },
    ])
    expect(fold.counts()).toEqual({
      messages: 9,
      requests: 5,
      notifications: 1,
      results: 1,
      errors: 1,
      toolErrors: 1,
      invalid: 1,
      noise: 1,
      stderr: 1,
      http: 0,
      gaps: 1,
      restarts: 0,
      lost: 3,
      unanswered: 1,
      cancelled: 1,
      late: 0,
      orphans: 2,
      duplicates: 2,
      undelivered: 1,
      waiting: 0,
      dropped: 0,
      modified: 0,
      injected: 0,
      answeredHere: 0,
      held: 0,
    })
    expect(isUnanswered(fold.entries, 6)).toBe(true)
  })

  it('before any meta line are still read', () => {
    const fold = foldOf([
      message('in', { id: 1, method: 'a' }, { id: 'a', seq: 7, us: 3 }),
      message('out', { id: 1, result: {} }, { id: 'b', seq: 8, us: 5, corr: 'a' }),
      end(),
    ])
    // One session, which began at the time of the first message.
    expect(fold.sessions).toMatchObject([{ label: '', complete: true }])
    expect(fold.entries.peer(1)).toBe(0)
    expect(fold.entries.seq(0)).toBe(7)
  })

  it('with clocks that make no sense do no harm', () => {
    const fold = foldOf([
      { ...foreign, startedAt: 'yesterday' },
      message('in', { id: 1, method: 'a' }, { t: '' }),
    ])
    expect(fold.entries.us(0)).toBe(0)
  })
})

it('takes any records in any order', () => {
  const line = fc.constantFrom<object>(
    own,
    foreign,
    end(),
    end({ rotated: true }),
    message('in', { id: 1, method: 'a' }, { id: 'a', seq: 1 }),
    message('out', { id: 1, result: {} }, { id: 'b', corr: 'a' }),
    message('out', { id: 1, result: {} }),
    { type: 'gap', t: '', lost: 1 },
    { type: 'undelivered', t: '', id: 'a' },
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      const counts = foldOf(lines).counts()
      expect(counts.messages).toBe(lines.filter((one) => 'dir' in one).length)
    }),
  )
})

it.runIf(isLong)('holds a million rows in under 80 bytes each', () => {
  const fold = createFold(idKey)
  fold.push(recordOf(own))
  const template = recordOf(message('in', { id: 1, method: 'tools/call' }, { id: 'x', seq: 0, us: 1 }))
  if (template.type !== 'message') throw new Error('not a message')
  const before = heldBytes()
  const rows = 1_000_000
  for (let i = 0; i < rows; i += 1) {
    const id = `00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`
    fold.push({ ...template, seq: i, us: i, parts: [{ ...template.parts[0]!, id }] })
  }
  expect(fold.entries.length).toBe(rows)
  expect((heldBytes() - before) / rows).toBeLessThan(80)
  expect(fold.counts().requests).toBe(rows)
})

describe('held messages', () => {
  it('links held progress to its request, also when it is dropped', () => {
    const request = message(
      'in',
      { id: 1, method: 'tools/call', params: { _meta: { progressToken: 'p' } } },
      { id: 'R', seq: 0, us: 1 },
    )
    const progress = {
      type: 'held',
      ...message(
        'out',
        { method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } },
        { id: 'P', seq: 1, us: 2, linked: [{ kind: 'progress', to: 'R' }] },
      ),
    }
    const dropped = { type: 'dropped', t: t(6), us: 9, id: 'P', why: 'a person' }
    const { entries } = foldOf([own, request, progress, dropped])
    expect(entries.linked(1)).toBe(0)
    expect(entries.has(1, 'dropped')).toBe(true)
    expect(entries.has(0, 'answered')).toBe(false)
  })

  const call = { id: 1, method: 'tools/call', params: { name: 'a' } }
  const held = { type: 'held', ...message('in', call, { id: 'A', seq: 0, us: 1000 }) }
  const answer = message('out', { id: 1, result: {} }, { id: 'C', corr: 'A', seq: 2, us: 901_000 })

  it('have one row, at the place of their arrival, that becomes what was passed on', () => {
    const fold = createFold(idKey)
    fold.push(recordOf(own))
    expect(fold.push(recordOf(held))).toEqual({ first: 0, count: 1 })
    expect(fold.entries.has(0, 'waiting')).toBe(true)
    fold.push(recordOf(message('in', { method: 'notifications/x' }, { id: 'B', seq: 1, us: 5000 })))
    const edited = { ...call, params: { name: 'a much longer name' } }
    const released = { id: 'A', seq: 0, us: 1000, heldMs: 800, modified: true, original: call }
    expect(fold.push(recordOf(message('in', edited, released)))).toEqual({ first: 0, count: 1 })
    fold.push(recordOf(answer))
    const { entries } = fold
    expect(entries.length).toBe(3)
    expect(entries.has(0, 'waiting')).toBe(false)
    expect(entries.has(0, 'held') && entries.has(0, 'modified') && entries.has(0, 'answered')).toBe(true)
    expect(entries.size(0)).toBe(JSON.stringify({ jsonrpc: '2.0', ...edited }).length)
    // 900 ms between the two, of which a person took 800.
    expect(entries.latencyUs(2)).toBe(100_000)
    expect(fold.counts()).toMatchObject({ messages: 3, modified: 1, waiting: 0, unanswered: 0 })
  })

  it('that are dropped did not cross the wire', () => {
    const fold = foldOf([own, held, { type: 'dropped', t: t(6), us: 9, id: 'A', why: 'a person' }])
    expect(fold.entries.has(0, 'dropped')).toBe(true)
    expect(fold.counts()).toMatchObject({ messages: 0, requests: 0, dropped: 1, unanswered: 0 })
  })

  it('that were still held at the end are neither sent nor unanswered', () => {
    expect(foldOf([own, held]).counts()).toMatchObject({ messages: 0, waiting: 1, unanswered: 0 })
  })

  it('that are answers answer nothing before they are passed on', () => {
    const heldAnswer = { type: 'held', ...answer }
    const asked = message('in', call, { id: 'A', seq: 0, us: 1 })
    expect(foldOf([own, asked, heldAnswer]).counts()).toMatchObject({ unanswered: 1 })
    expect(foldOf([own, asked, heldAnswer, answer]).counts()).toMatchObject({ unanswered: 0, results: 1 })
  })

  it.each([
    ['of ours, of which nobody else hears, leave none of ours unanswered', true, 0],
    ['that are dropped leave a request unanswered', false, 1],
  ])('that are answers %s', (_, injected, unanswered) => {
    const asked = message('in', call, { id: 'A', seq: 0, us: 1, ...(injected && { injected }) })
    const dropped = { type: 'dropped', t: t(6), us: 9, id: 'C', why: '' }
    const counts = foldOf([own, asked, { type: 'held', ...answer }, dropped]).counts()
    expect(counts).toMatchObject({ unanswered, dropped: injected ? 0 : 1 })
  })

  it('that answer an injected request are its response, with its latency and its error', () => {
    const asked = message('in', call, { id: 'A', seq: 0, us: 1, injected: true })
    const dropped = { type: 'dropped', t: t(6), us: 9, id: 'C', why: '' }
    const result = { content: [], isError: true }
    const failed = message('out', { id: 7, result }, { id: 'C', corr: 'A', seq: 1, us: 5 })
    const fold = foldOf([own, asked, { type: 'held', ...failed }, dropped])
    expect(fold.counts()).toMatchObject({ toolErrors: 1, unanswered: 0 })
    expect([fold.entries.peer(0), fold.entries.peer(1), fold.entries.latencyUs(1)]).toEqual([1, 0, 4])
  })

  it('of a batch go on or are dropped together', () => {
    const raw = [call, { jsonrpc: '2.0', method: 'x' }].map((m) => ({ jsonrpc: '2.0', ...m }))
    const line = { t: t(1), dir: 'in', raw, id: 'A', seq: 0, us: 1, batch: [{ id: 'A' }, { id: 'B' }] }
    const dropped = { type: 'dropped', t: t(2), us: 2, id: 'A', why: '' }
    expect(foldOf([own, { type: 'held', ...line }, dropped]).counts().dropped).toBe(2)
    const fold = foldOf([own, { type: 'held', ...line }, { ...line, heldMs: 3 }])
    expect(fold.entries.length).toBe(2)
    expect(fold.counts()).toMatchObject({ messages: 2, waiting: 0 })
  })
})

describe('a call that creates a task', () => {
  const task = (status: string): object => ({ taskId: 'T', status })
  const line = (dir: 'in' | 'out', us: number, raw: object): object => message(dir, raw, { us: us * 1000 })
  const asks = (id: number, method: string, us: number): object =>
    line('in', us, { id, method, params: { taskId: 'T' } })
  const calls = [
    line('in', 0, { id: 1, method: 'tools/call', params: { name: 'dig', task: {} } }),
    line('out', 10, { id: 1, result: { task: task('working') } }),
  ]
  const told = { method: 'notifications/tasks/status', params: task('completed') }
  const polls = [asks(2, 'tasks/get', 20), line('out', 30, { id: 2, result: task('working') })]

  it.each<[string, object[], number | undefined]>([
    ['has no latency before its end', polls, undefined],
    [
      'ends with a poll that reports the end',
      [...polls, asks(3, 'tasks/get', 40), line('out', 50, { id: 3, result: task('failed') })],
      50_000,
    ],
    ['ends with a notification of the end', [...polls, line('out', 60, told)], 60_000],
    [
      'ends with the result, which need not name the task, without the time for which the server asked its client',
      [
        asks(3, 'tasks/result', 40),
        line('out', 50, { id: 'q', method: 'roots/list' }),
        line('in', 65, { id: 'q', result: { roots: [] } }),
        line('out', 70, { id: 3, result: { content: [] } }),
      ],
      55_000,
    ],
  ])('%s', (_, later, latencyUs) => {
    expect(foldOf([foreign, ...calls, ...later]).entries.latencyUs(1)).toBe(latencyUs)
  })

  const asked = (id: number, method: string, answer: object): object[] => [
    asks(id, method, 20 * id),
    line('out', 20 * id + 10, { id, ...answer }),
  ]
  const reports = (id: number, status: string, more = {}): object[] =>
    asked(id, 'tasks/get', { result: { ...task(status), ...more } })
  const broken = { result: { content: [], isError: true } }
  const refused = { error: { code: -32603, message: 'No shovel' } }
  const failed = { facts: ['task-failed'], errors: 1 }

  it.each<[string, object[], { facts: string[]; errors: number }]>([
    ['is open while its task works', reports(2, 'working'), { facts: ['task-open'], errors: 0 }],
    [
      'is open while its task waits for input',
      reports(2, 'input_required'),
      { facts: ['task-open'], errors: 0 },
    ],
    ['has succeeded with its task', reports(2, 'completed'), { facts: [], errors: 0 }],
    ['has failed with its task', reports(2, 'failed'), failed],
    [
      'has failed with a tool of the 2026-07-28 era',
      reports(2, 'completed', { result: { isError: true } }),
      failed,
    ],
    [
      'has failed once, whoever reports it first',
      [...asked(2, 'tasks/result', refused), ...reports(3, 'failed')],
      failed,
    ],
    [
      'has failed once, however often it is reported',
      [...reports(2, 'failed'), ...asked(3, 'tasks/result', refused)],
      failed,
    ],
    ['has failed once with its tool', [...reports(2, 'failed'), ...asked(3, 'tasks/result', broken)], failed],
    [
      'has failed with a tool whose task completed',
      [...reports(2, 'completed'), ...asked(3, 'tasks/result', broken)],
      failed,
    ],
    [
      'has succeeded although its result expired',
      [...reports(2, 'completed'), ...asked(3, 'tasks/result', refused)],
      { facts: [], errors: 1 },
    ],
    ['is open although a poll failed', asked(2, 'tasks/get', refused), { facts: ['task-open'], errors: 1 }],
    [
      'is cancelled with its task',
      asked(2, 'tasks/cancel', { result: task('cancelled') }),
      { facts: ['task-cancelled'], errors: 0 },
    ],
    [
      'is cancelled when the server accepts that',
      asked(2, 'tasks/cancel', { result: {} }),
      { facts: ['task-cancelled'], errors: 0 },
    ],
    [
      'has succeeded if that was too late',
      [...asked(2, 'tasks/cancel', { result: {} }), ...reports(3, 'completed')],
      { facts: [], errors: 0 },
    ],
  ])('%s', (_, later, { facts, errors }) => {
    const fold = foldOf([foreign, ...calls, ...later])
    expect([...factsOf(fold.entries, 1)]).toEqual(facts)
    const counts = fold.counts()
    expect(counts.errors + counts.toolErrors).toBe(errors)
  })
})

describe('a client that closes the stream of its request', () => {
  const call = (version: string, id: number): object => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': version }
    const raw = { id, method: 'tools/call', params: { name: 'slow', _meta } }
    return message('in', raw, { id: `call-${id}`, seq: id, us: id, http: { exchange: id, method: 'POST' } })
  }
  const broken = (exchange: number, why: string): object => ({
    type: 'http',
    t: t(6),
    us: 6,
    exchange,
    method: 'POST',
    path: '/mcp',
    status: 200,
    why,
  })

  it('has cancelled it in the modern era', () => {
    const fold = foldOf([own, call('2026-07-28', 0), broken(0, 'client: closed the connection')])
    expect(fold.counts()).toMatchObject({ cancelled: 1, unanswered: 0 })
  })

  it('has not where the upstream broke it, nor in the legacy era, nor when it was answered', () => {
    const upstream = foldOf([own, call('2026-07-28', 0), broken(0, 'upstream: closed the connection')])
    expect(upstream.counts()).toMatchObject({ cancelled: 0, unanswered: 1 })
    const legacy = message(
      'in',
      { id: 1, method: 'tools/call', params: { name: 'slow' } },
      { id: 'call-1', seq: 0, us: 1, http: { exchange: 0, method: 'POST' } },
    )
    const folded = foldOf([own, legacy, broken(0, 'client: closed the connection')])
    expect(folded.counts()).toMatchObject({ cancelled: 0, unanswered: 1 })
    const answer = message('out', { id: 0, result: {} }, { id: 'answer', corr: 'call-0', seq: 1, us: 3 })
    const answered = foldOf([own, call('2026-07-28', 0), answer, broken(0, 'client: it left')])
    expect(answered.counts()).toMatchObject({ cancelled: 0, unanswered: 0 })
  })
})
