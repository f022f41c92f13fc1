import { describe, expect, it } from 'vitest'
import { compilePath } from '../../src/json-path/index.js'
import { createLiveValues } from '../../src/replay/live-values.js'
import { isLong } from '../long.js'

const json = (value: object): string => JSON.stringify(value)

describe('the values of this run', () => {
  it.each([
    ['a cursor', { nextCursor: 'a' }, { nextCursor: 'b' }, { cursor: 'a' }, { cursor: 'b' }],
    [
      'a state',
      { requestState: 's1' },
      { requestState: 's2' },
      { requestState: 's1' },
      { requestState: 's2' },
    ],
    ['a task', { task: { taskId: 't1' } }, { task: { taskId: 't2' } }, { taskId: 't1' }, { taskId: 't2' }],
    [
      'a handle that looks made',
      { structuredContent: { id: 'order-0017' } },
      { structuredContent: { id: 'order-0042' } },
      { arguments: { order: 'order-0017' } },
      { arguments: { order: 'order-0042' } },
    ],
    [
      'the number of a process',
      { structuredContent: { pid: 4711 } },
      { structuredContent: { pid: 822 } },
      { arguments: { pid: 4711, lines: 4711 } },
      { arguments: { pid: 822, lines: 4711 } },
    ],
    [
      'the number of a row in a sentence',
      { content: [{ type: 'text', text: 'Saved note #7 (7 in all).' }] },
      { content: [{ type: 'text', text: 'Saved note #12 (7 in all).' }] },
      { arguments: { noteId: 7, ids: ['7'], limit: 7 } },
      { arguments: { noteId: 12, ids: ['12'], limit: 7 } },
    ],
  ])('stand where a later message gives %s back', (_, recorded, live, params, expected) => {
    const values = createLiveValues([])
    values.learn(json({ result: recorded }), [], json({ result: live }))
    expect(values.apply(json({ params }), []).text).toBe(json({ params: expected }))
  })

  it('leave a number that the client said first', () => {
    const values = createLiveValues([])
    const asked = json({ params: { arguments: { noteId: 7 } } })
    values.apply(asked, [])
    values.learn(json({ result: { id: 7 } }), [], json({ result: { id: 8 } }))
    expect(values.apply(asked, []).text).toBe(asked)
  })

  it('are threaded however many there were before, and stay where they are in use', () => {
    const values = createLiveValues([])
    const answer = (side: string, i: number): string =>
      json({
        result: {
          structuredContent: { id: `order-${side}-${i}`, at: `${side}-at-${i}`, n: `${side}-n-${i}` },
        },
      })
    const asked = (side: string, i: number): string =>
      json({ params: { arguments: { order: `order-${side}-${i}` } } })
    const count = isLong ? 60_000 : 10_001
    for (let i = 0; i < count; i += 1) {
      values.learn(answer('then', i), [], answer('now', i))
      if (i % 5_000 === 0) expect(values.apply(asked('then', 0), []).text).toBe(asked('now', 0))
    }
    expect(values.apply(asked('then', count - 1), []).text).toBe(asked('now', count - 1))
  })

  describe('inside a sentence', () => {
    const said = (text: string): string => json({ result: { content: [{ type: 'text', text }] } })
    const asked = (id: string): string => json({ params: { arguments: { id } } })
    const threaded = (before: string, after: string, id: string): string => {
      const values = createLiveValues([])
      values.learn(said(before), [], said(after))
      return values.apply(asked(id), []).text
    }

    it.each([
      (id: string) => `Created note ${id} (1 note).`,
      (id: string) => `It is "${id}".\nUse it well.`,
      (id: string) => `Done. id=${id}, name=x`,
      (id: string) => `| Id: ${id} | 3 |`,
      (id: string) => `See ${id}.`,
    ])('are given back: %s', (sentence) => {
      const [then, now] = ['3f2a-11b0', '91bc-77d2']
      expect(threaded(sentence(then), sentence(now), then)).toBe(asked(now))
      const [file, other] = ['/tmp/run1/out.txt', 'https://x.y/run2/out.txt']
      expect(threaded(sentence(file), sentence(other), file)).toBe(asked(other))
    })

    it('are given back, each of several', () => {
      const [before, after] = ['order-0001 and order-0002', 'order-0007 and order-0008']
      expect(threaded(before, after, 'order-0002')).toBe(asked('order-0008'))
    })

    it.each([
      ['has other words', 'Created order-0001', 'Created a new order-0007', 'order-0001'],
      ['has it too', 'order-0001 or order-0002', 'order-0002 or order-0001', 'order-0001'],
      ['looks typed', 'Hello Anna, it rains', 'Hello Otto, it snows', 'Anna'],
    ])('stay where this run %s', (_, before, after, id) => {
      expect(threaded(before, after, id)).toBe(asked(id))
    })

    it('stay where the client said them first', () => {
      const values = createLiveValues([])
      values.apply(asked('report-2026'), [])
      values.learn(said('Wrote report-2026 today'), [], said('Wrote REPORT-2026 today'))
      expect(values.apply(asked('report-2026'), []).text).toBe(asked('report-2026'))
    })
  })

  it('leave arguments alone that a person may have typed', () => {
    const values = createLiveValues([])
    values.learn('{"result":{"city":"Paris","n":1}}', [], '{"result":{"city":"Rome","n":2}}')
    const request = '{"params":{"arguments":{"city":"Paris","n":1}}}'
    expect(values.apply(request, [])).toMatchObject({ text: request, replaced: [], missing: [] })
  })

  it('leave what the client said before any answer had it, also where an answer repeats it otherwise', () => {
    const values = createLiveValues([])
    const create = json({ params: { name: 'create', arguments: { name: 'report-2026' } } })
    values.apply(create, [])
    const answer = (name: string): string => json({ result: { structuredContent: { name } } })
    values.learn(answer('report-2026'), [], answer('REPORT-2026'))
    const get = json({ params: { name: 'get', arguments: { name: 'report-2026' } } })
    expect(values.apply(get, []).text).toBe(get)
  })

  it('are given back although the client gave an equal one back before', () => {
    const values = createLiveValues([])
    const answer = (id: string): string =>
      json({ result: { content: [{ type: 'text', text: json({ id }) }] } })
    values.learn(answer('order-0017'), [], answer('order-0017'))
    const get = json({ params: { arguments: { id: 'order-0017' } } })
    expect(values.apply(get, []).text).toBe(get)
    values.learn(answer('order-0017'), [], answer('order-0042'))
    expect(values.apply(get, []).text).toBe(json({ params: { arguments: { id: 'order-0042' } } }))
  })

  it('keep every other character', () => {
    const values = createLiveValues([])
    values.learn('{"result":{"nextCursor":"a"}}', [], '{"result":{"nextCursor":"b"}}')
    expect(values.apply('{ "params" : {"cursor":\t"a", "n":1.00, "n":2e0} }', []).text).toBe(
      '{ "params" : {"cursor":\t"b", "n":1.00, "n":2e0} }',
    )
  })

  it('are found by tag where they were redacted, as a whole and within a text', () => {
    const values = createLiveValues([])
    const recorded = '{"result":{"requestState":"[REDACTED]","text":"key [REDACTED]."}}'
    const marks = [
      { at: '/result/requestState', tag: 'a' },
      { at: '/result/text', tag: 'b' },
    ]
    values.learn(recorded, marks, '{"result":{"requestState":"live","text":"key k-\\"1\\"."}}')
    const request = '{"params":{"requestState":"[REDACTED]","arguments":{"auth":"Bearer [REDACTED]!"}}}'
    const given = [
      { at: '/params/requestState', tag: 'a' },
      { at: '/params/arguments/auth', tag: 'b' },
    ]
    expect(values.apply(request, given)).toMatchObject({
      text: '{"params":{"requestState":"live","arguments":{"auth":"Bearer k-\\"1\\"!"}}}',
      replaced: ['/params/requestState', '/params/arguments/auth'],
      missing: [],
    })
  })

  it('are missing where nobody said them, unless they are set', () => {
    const request = '{"params":{"arguments":{"token":"[REDACTED]"}}}'
    const marks = [{ at: '/params/arguments/token', tag: 'a' }]
    expect(createLiveValues([]).apply(request, marks).missing).toEqual(['/params/arguments/token'])
    const values = createLiveValues([
      { path: compilePath('$.params.arguments.token'), name: '$.params.arguments.token', json: '"t"' },
    ])
    expect(values.apply(request, marks)).toMatchObject({
      text: '{"params":{"arguments":{"token":"t"}}}',
      missing: [],
    })
    // The value is known from then on, at every place of the same secret.
    const other = '{"params":{"arguments":{"again":"[REDACTED]"}}}'
    expect(values.apply(other, [{ at: '/params/arguments/again', tag: 'a' }]).missing).toEqual([])
  })
})
