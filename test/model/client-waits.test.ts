import { describe, expect, it } from 'vitest'
import { decodeLine } from '../../src/formats/index.js'
import { createFold, type EntryTable } from '../../src/model/index.js'
import { idKey } from '../../src/wire/index.js'
import { identity } from '../fixtures/identity.mjs'

const meta = {
  v: 1,
  type: 'meta',
  startedAt: '2026-01-01T00:00:00.000Z',
  label: 'l',
  command: [],
  wiretape: identity,
}

interface Said {
  readonly dir: 'in' | 'out'
  /** The request that it is or answers. */
  readonly of: string
  readonly ms: number
  readonly method?: string
  readonly more?: object
}

const asks = (of: string, ms: number, more: object = {}): Said => ({
  dir: 'in',
  of,
  ms,
  method: 'tools/call',
  more,
})
const answers = (of: string, ms: number, more: object = {}): Said => ({ dir: 'out', of, ms, more })
const question = (of: string, ms: number, more: object = {}): Said => ({
  dir: 'out',
  of,
  ms,
  method: 'elicitation/create',
  more,
})
const reply = (of: string, ms: number, more: object = {}): Said => ({ dir: 'in', of, ms, more })

/** Latency and waiting time of the response to each request of the client, in milliseconds. */
function told(...all: readonly (Said | object)[]): Record<string, readonly [number | undefined, number]> {
  const fold = createFold(idKey)
  const lines = all.map((each, seq) => ('of' in each ? lineOf(each, seq) : each))
  for (const line of [meta, ...lines]) {
    const decoded = decodeLine(JSON.stringify(line))
    if (!('record' in decoded)) throw new Error(decoded.fault.message)
    fold.push(decoded.record)
  }
  const { entries } = fold
  const rows = Array.from({ length: entries.length }, (_, row) => row)
  return Object.fromEntries(
    rows
      .filter((row) => isAnswerOfServer(entries, row))
      .map((row) => {
        const { of } = all[entries.seq(row)] as Said
        const us = entries.latencyUs(row)
        return [of, [us === undefined ? us : us / 1000, entries.waitedUs(row) / 1000]]
      }),
  )
}

function isAnswerOfServer(entries: EntryTable, row: number): boolean {
  return entries.kind(row) === 'result' && entries.has(row, 'fromServer')
}

function lineOf({ dir, of, ms, method, more = {} }: Said, seq: number): object {
  const raw = method === undefined ? { id: of, result: {} } : { id: of, method, params: { name: 'x' } }
  const id = method === undefined ? `answer-${of}` : of
  return {
    t: new Date(Date.UTC(2026, 0, 1) + ms).toISOString(),
    dir,
    raw: { jsonrpc: '2.0', ...raw },
    id,
    ...(method === undefined && { corr: of }),
    seq,
    us: ms * 1000,
    ...more,
  }
}

describe('the latency of a server', () => {
  it('leaves out the time in which it waited for its client', () => {
    expect(told(asks('a', 0), question('q', 100), reply('q', 8100), answers('a', 8300))).toEqual({
      a: [300, 8000],
    })
  })

  it('counts two questions at one time once', () => {
    expect(
      told(
        asks('a', 0),
        question('q', 10),
        question('r', 20),
        reply('q', 60),
        reply('r', 90),
        answers('a', 100),
      ),
    ).toEqual({ a: [20, 80] })
  })

  it('leaves it out of every request that was open, where nothing says which one was meant', () => {
    expect(
      told(
        asks('a', 0),
        asks('b', 5),
        question('q', 10),
        asks('c', 20),
        answers('c', 30),
        reply('q', 60),
        answers('a', 70),
        answers('b', 80),
      ),
    ).toEqual({ a: [20, 50], b: [25, 50], c: [10, 0] })
  })

  it('leaves it out of the request in whose HTTP response the question stood', () => {
    const [one, two] = [{ http: { exchange: 1 } }, { http: { exchange: 2 } }]
    expect(
      told(
        asks('a', 0, one),
        asks('b', 5, two),
        question('q', 10, two),
        reply('q', 60, { http: { exchange: 3 } }),
        answers('a', 70, one),
        answers('b', 80, two),
      ),
    ).toEqual({ a: [70, 0], b: [25, 50] })
  })

  it('leaves it out of the requests of its conversation only', () => {
    const [mine, other] = [{ conv: 'm' }, { conv: 'o' }]
    expect(
      told(
        asks('a', 0, mine),
        asks('b', 0, other),
        question('q', 10, mine),
        reply('q', 60, mine),
        answers('a', 70, mine),
        answers('b', 80, other),
      ),
    ).toEqual({ a: [20, 50], b: [80, 0] })
  })

  it('counts a question that is never answered, or is taken back, as long as it is open', () => {
    expect(told(asks('a', 0), question('q', 10), answers('a', 100))).toEqual({ a: [10, 90] })
    const back = {
      t: meta.startedAt,
      dir: 'out',
      raw: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'q' } },
      id: 'n',
      seq: 2,
      us: 30_000,
      linked: [{ kind: 'cancel', to: 'q' }],
    }
    expect(told(asks('a', 0), question('q', 10), back, answers('a', 100))).toEqual({ a: [80, 20] })
  })

  it('does not count a ping of the server, nor a question that a person made up', () => {
    const ping: Said = { dir: 'out', of: 'p', ms: 10, method: 'ping' }
    expect(told(asks('a', 0), ping, reply('p', 60), answers('a', 100))).toEqual({ a: [100, 0] })
    const made = question('q', 10, { injected: true })
    expect(told(asks('a', 0), made, reply('q', 60), answers('a', 100))).toEqual({ a: [100, 0] })
  })

  it('leaves out for how long a person held the reply on its way to the server', () => {
    const held = { ...lineOf(reply('q', 30), 2), type: 'held' }
    expect(
      told(asks('a', 0), question('q', 10), held, reply('q', 30, { heldMs: 40, seq: 2 }), answers('a', 100)),
    ).toEqual({ a: [40, 60] })
  })
})
