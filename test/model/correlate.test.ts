import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Correlator, opposite, type Direction, type Relations } from '../../src/model/index.js'
import { idKey, readEnvelope } from '../../src/wire/index.js'
import { heldBytes } from './heap.js'
import { isLong, runs } from '../long.js'

const c2s = 'client_to_server'
const s2c = 'server_to_client'

/** Feeds messages; each is named by its number. */
function conversation(): {
  client: (text: string | object, conversation?: string) => Relations<number>
  server: (text: string | object, conversation?: string) => Relations<number>
} {
  const correlator = new Correlator<number>(idKey)
  let next = 0
  const from =
    (direction: Direction) =>
    (message: string | object, conversation = '') => {
      const text = typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })
      return correlator.observe({ ref: next++, envelope: readEnvelope(text, 0), direction, conversation })
    }
  return { client: from(c2s), server: from(s2c) }
}

const request = (id: string, method = 'tools/call', params = '{}'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
const result = (id: string, value = '{}'): string => `{"jsonrpc":"2.0","id":${id},"result":${value}}`

const modern = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }

describe('answers', () => {
  it('belong to the request with the same id', () => {
    const { client, server } = conversation()
    expect(client(request('1'))).toEqual({ links: [] })
    expect(server(result('1'))).toEqual({ answers: 0, links: [] })
  })

  it('under an id of more than 4,096 characters are related to nothing', () => {
    const { client, server } = conversation()
    const longest = JSON.stringify('i'.repeat(4_094))
    client(request(longest))
    expect(server(result(longest))).toEqual({ answers: 0, links: [] })
    const tooLong = JSON.stringify('i'.repeat(4_095))
    client(request(tooLong))
    expect(server(result(tooLong))).toEqual({ links: [] })
    client(request('7', 'tools/call', `{"_meta":{"progressToken":${tooLong}}}`))
    expect(server(result('7'))).toEqual({ answers: 4, links: [] })
  })

  it('are typed: 1 is not "1", but 1.0 is 1', () => {
    const { client, server } = conversation()
    client(request('"1"'))
    client(request('1'))
    expect(server(result('1.0'))).toMatchObject({ answers: 1 })
    expect(server(result('"\\u0031"'))).toMatchObject({ answers: 0 })
  })

  it('are not confused by ids that a JavaScript number cannot hold', () => {
    const { client, server } = conversation()
    client(request('9007199254740993'))
    client(request('9007199254740992'))
    expect(server(result('9007199254740993'))).toMatchObject({ answers: 0 })
  })

  it("never belong to the answering side's own request", () => {
    const { client, server } = conversation()
    server(request('1', 'sampling/createMessage'))
    client(request('1'))
    expect(server(result('1'))).toMatchObject({ answers: 1 })
    expect(client(result('1'))).toMatchObject({ answers: 0 })
  })

  it('stay within their conversation, whatever characters its name and the ids have', () => {
    const { client, server } = conversation()
    client(request('"a"'), 'b c')
    expect(server(result('"a b"'), 'c')).toEqual({ links: [] })
    expect(server(result('"a"'), 'c')).toEqual({ links: [] })
    expect(server(result('"a"'), 'b c')).toMatchObject({ answers: 0 })
  })

  it('after the first are late, errors too', () => {
    const { client, server } = conversation()
    client(request('1'))
    server(result('1'))
    expect(server(result('1'))).toMatchObject({ answers: 0, late: true })
    expect(server({ id: 1, error: { code: 0, message: '' } })).toMatchObject({ answers: 0, late: true })
  })

  it('to nothing belong to nothing, and an error for id null neither', () => {
    const { client, server } = conversation()
    client(request('1'))
    expect(server(result('2'))).toEqual({ links: [] })
    expect(server({ id: null, error: { code: -32700, message: '' } })).toEqual({ links: [] })
  })

  it('belong to the newer request when an id is used again after its answer', () => {
    const { client, server } = conversation()
    client(request('1'))
    server(result('1'))
    expect(client(request('1'))).toEqual({ links: [] })
    expect(server(result('1'))).toEqual({ answers: 2, links: [] })
    expect(server(result('1'))).toMatchObject({ answers: 2, late: true })
  })

  it('are left alone while two requests wait under one id, and certain again after both', () => {
    const { client, server } = conversation()
    client(request('1'))
    expect(client(request('1'))).toEqual({ duplicateOf: 0, links: [] })
    expect(server(result('1'))).toEqual({ links: [] })
    expect(server(result('1'))).toEqual({ links: [] })
    expect(server(result('1'))).toEqual({ links: [] })
    client(request('1'))
    expect(server(result('1'))).toMatchObject({ answers: 5 })
  })
})

describe('progress', () => {
  const progress = (token: string): string =>
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}`
  const withToken = (id: string, token: string): string =>
    request(id, 'tools/call', `{"_meta":{"progressToken":${token}}}`)

  it('is linked by its typed token, against the direction of the request', () => {
    const { client, server } = conversation()
    client(withToken('1', '7'))
    server(withToken('1', '7'))
    expect(server(progress('7')).links).toEqual([{ kind: 'progress', to: 0 }])
    expect(client(progress('7')).links).toEqual([{ kind: 'progress', to: 1 }])
    expect(server(progress('"7"')).links).toEqual([])
  })

  it('is not linked while two open requests share a token', () => {
    const { client, server } = conversation()
    client(withToken('1', '7'))
    client(withToken('2', '7'))
    expect(server(progress('7')).links).toEqual([])
    server(result('1'))
    expect(server(progress('7')).links).toEqual([])
    server(result('2'))
    client(withToken('3', '7'))
    expect(server(progress('7')).links).toEqual([{ kind: 'progress', to: 6 }])
  })

  it('goes on after a request that became a task', () => {
    const { client, server } = conversation()
    client(withToken('1', '7'))
    server(result('1', '{"task":{"taskId":"t"}}'))
    expect(server(progress('7')).links).toEqual([{ kind: 'progress', to: 0 }])
    client(withToken('2', '7'))
    expect(server(progress('7')).links).toEqual([])
  })
})

describe('cancellation', () => {
  const cancel = (id: string): string =>
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`

  it("is of the sender's own request, from either side", () => {
    const { client, server } = conversation()
    client(request('1'))
    server(request('1', 'sampling/createMessage'))
    expect(client(cancel('1')).links).toEqual([{ kind: 'cancel', to: 0 }])
    expect(server(cancel('1')).links).toEqual([{ kind: 'cancel', to: 1 }])
    expect(client(cancel('2')).links).toEqual([])
  })

  it('of a request that has just been answered is linked to it', () => {
    const { client, server } = conversation()
    client(request('1'))
    server(result('1'))
    expect(client(cancel('1')).links).toEqual([{ kind: 'cancel', to: 0 }])
  })

  it('does not stop a late answer from being linked', () => {
    const { client, server } = conversation()
    client(request('1'))
    client(cancel('1'))
    expect(server(result('1'))).toMatchObject({ answers: 0 })
  })

  it('by the server ends a listen stream of the client (2026-07-28), and nothing else of it', () => {
    const { client, server } = conversation()
    client(request('"l"', 'subscriptions/listen'))
    client(request('2'))
    expect(server(cancel('"l"')).links).toEqual([{ kind: 'cancel', to: 0 }])
    expect(server(cancel('2')).links).toEqual([])
  })

  it('that could be of a listen stream and of an own request is left alone', () => {
    const { client, server } = conversation()
    client(request('1', 'subscriptions/listen'))
    server(request('1', 'ping'))
    expect(server(cancel('1')).links).toEqual([])
  })

  it('of one of two requests under one id is left alone', () => {
    const { client } = conversation()
    client(request('1'))
    client(request('1'))
    expect(client(cancel('1')).links).toEqual([])
  })
})

describe('subscriptions (2026-07-28)', () => {
  const changed = (id: string): object => ({
    method: 'notifications/tools/list_changed',
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': JSON.parse(id) as unknown } },
  })

  it('claim the notifications that name them', () => {
    const { client, server } = conversation()
    client(request('1', 'subscriptions/listen'))
    client(request('2', 'tools/call'))
    expect(server(changed('1')).links).toEqual([{ kind: 'subscription', to: 0 }])
    expect(server(changed('"1"')).links).toEqual([])
    expect(server(changed('2')).links).toEqual([])
    expect(client(changed('1')).links).toEqual([])
  })

  it('are told apart when the id is used again after the first ended', () => {
    const { client, server } = conversation()
    client(request('1', 'subscriptions/listen'))
    server(result('1'))
    client(request('1', 'subscriptions/listen'))
    expect(server(changed('1')).links).toEqual([{ kind: 'subscription', to: 2 }])
  })

  it('are left alone when two are open under one id', () => {
    const { client, server } = conversation()
    client(request('1', 'subscriptions/listen'))
    client(request('1', 'subscriptions/listen'))
    expect(server(changed('1')).links).toEqual([])
  })
})

describe('tasks', () => {
  const status = { method: 'notifications/tasks/status', params: { taskId: 't' } }
  const related = (extra: object): object => ({
    ...extra,
    params: { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't' } } },
  })
  const created = '{"task":{"taskId":"t","status":"working"}}'

  it('belong to the request that began them', () => {
    const { client, server } = conversation()
    client(request('1'))
    expect(server(result('1', created))).toEqual({ answers: 0, links: [] })
    const task = [{ kind: 'task', to: 0 }]
    expect(client({ id: 2, method: 'tasks/get', params: { taskId: 't' } }).links).toEqual(task)
    expect(server(status).links).toEqual(task)
    expect(server(related({ id: 1, method: 'elicitation/create' })).links).toEqual(task)
    expect(client({ id: 3, method: 'tasks/get', params: { taskId: 'u' } }).links).toEqual([])
  })

  it('of both sides under one name are told apart where the message tells', () => {
    const { client, server } = conversation()
    client(request('1'))
    server(result('1', created))
    server(request('1', 'sampling/createMessage'))
    client(result('1', created))
    expect(client({ id: 2, method: 'tasks/get', params: { taskId: 't' } }).links).toEqual([
      { kind: 'task', to: 0 },
    ])
    expect(server({ id: 2, method: 'tasks/get', params: { taskId: 't' } }).links).toEqual([
      { kind: 'task', to: 2 },
    ])
    expect(client(status).links).toEqual([{ kind: 'task', to: 2 }])
    expect(server(related({ id: 9, method: 'elicitation/create' })).links).toEqual([])
  })

  it('made twice under one name are left alone', () => {
    const { client, server } = conversation()
    for (const id of ['1', '2']) {
      client(request(id))
      server(result(id, created))
    }
    expect(server(status).links).toEqual([])
  })
})

describe('multi round-trip requests (2026-07-28)', () => {
  const call = (
    id: number,
    extra: object = {},
    method = 'tools/call',
    what: object = { name: 'x' },
  ): object => ({
    id,
    method,
    params: { ...what, _meta: modern, ...extra },
  })
  const more = (id: number, extra: object): object => ({
    id,
    result: { resultType: 'input_required', ...extra },
  })

  it('are linked by the exact state', () => {
    const { client, server } = conversation()
    client(call(1))
    client(call(2))
    server(more(1, { requestState: 'a' }))
    server(more(2, { requestState: 'b' }))
    expect(client(call(3, { requestState: 'b' })).links).toEqual([{ kind: 'round', to: 1 }])
    expect(client(call(4, { requestState: 'a' })).links).toEqual([{ kind: 'round', to: 0 }])
    expect(client(call(5, { requestState: 'c' })).links).toEqual([])
  })

  it('form a chain when the server gives the same state every time', () => {
    const { client, server } = conversation()
    client(call(1))
    server(more(1, { requestState: 's' }))
    expect(client(call(2, { requestState: 's' })).links).toEqual([{ kind: 'round', to: 0 }])
    server(more(2, { requestState: 's' }))
    expect(client(call(3, { requestState: 's' })).links).toEqual([{ kind: 'round', to: 2 }])
  })

  it('with one state for two requests are left alone', () => {
    const { client, server } = conversation()
    client(call(1))
    client(call(2))
    server(more(1, { requestState: 's' }))
    server(more(2, { requestState: 's' }))
    expect(client(call(3, { requestState: 's' })).links).toEqual([])
  })

  it.each([
    ['tools/call', { name: 'x', arguments: { n: 1 } }],
    ['tools/call', { name: 'x' }],
    ['prompts/get', { name: 'p' }],
    ['resources/read', { uri: 'file:///a' }],
  ])('without state are linked by the same %s %j that brings inputs which were asked for', (method, what) => {
    const { client, server } = conversation()
    client(call(1, {}, method, what))
    server(more(1, { inputRequests: { a: {}, b: {} } }))
    expect(client(call(2, { inputResponses: { c: {} } }, method, what)).links).toEqual([])
    expect(
      client(call(3, { inputResponses: { a: {} } }, method, { ...what, name: 'other', uri: 'o' })).links,
    ).toEqual([])
    expect(client(call(4, {}, method, what)).links).toEqual([])
    expect(client(call(5, { inputResponses: { a: {} } }, method, what)).links).toEqual([
      { kind: 'round', to: 0 },
    ])
  })
})

describe('memory', () => {
  const megabytes = (): number => heldBytes() / 1024 / 1024

  it.runIf(isLong)('stays bounded over a million requests that nobody answers', () => {
    const correlator = new Correlator<number>(idKey)
    const before = megabytes()
    for (let ref = 0; ref < 1_000_000; ref += 1) {
      const envelope = { kind: 'request', id: String(ref), method: 'a', progressToken: `"t${ref}"` } as const
      correlator.observe({ ref, envelope, direction: c2s, conversation: '' })
    }
    expect(megabytes() - before).toBeLessThan(60)
    expect(correlator).toBeDefined()
  })

  it.runIf(isLong)('stays bounded when ids, arguments and states are long', () => {
    const { client, server } = conversation()
    const before = megabytes()
    const long = 'y'.repeat(60_000)
    for (let i = 0; i < 1_000; i += 1) {
      const params = { name: 'n', arguments: long + i, _meta: { ...modern, progressToken: long + i } }
      client({ id: i, method: 'tools/call', params })
      if (i % 2 === 0) server({ id: i, result: { resultType: 'input_required', requestState: long + i } })
      client({ id: long + i, method: 'tools/call' })
    }
    expect(megabytes() - before).toBeLessThan(100)
    expect(server(result('1'))).toBeDefined()
  })

  it.runIf(isLong)('does not forget a request over any number of later ones that were answered', () => {
    const { client, server } = conversation()
    client(request('"first"'))
    for (let i = 0; i < 140_000; i += 1) {
      client(request(String(i)))
      server(result(String(i)))
    }
    expect(server(result('"first"'))).toMatchObject({ answers: 0 })
  })
})

describe('any two peers with overlapping ids', () => {
  const ids = ['1', '1.0', '"1"', '2', '"a"', '"\\u0061"']
  const action = fc.record({
    kind: fc.constantFrom('ask', 'ask', 'answer', 'answer', 'again', 'progress', 'cancel'),
    direction: fc.constantFrom<Direction>(c2s, s2c),
    id: fc.constantFrom(...ids),
    pick: fc.nat({ max: 20 }),
  })

  it('get only true links', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const peers = conversation()
        const say = (direction: Direction, text: string): Relations<number> =>
          direction === c2s ? peers.client(text) : peers.server(text)
        /** The requests in truth, kept by number and not by id. */
        const asked: { ref: number; direction: Direction; id: string; key: string; answers: number }[] = []
        let next = 0
        const openUnder = (direction: Direction, key: string): typeof asked =>
          asked.filter((one) => one.answers === 0 && one.direction === direction && one.key === key)

        for (const { kind, direction, id, pick } of actions) {
          if (kind === 'ask') {
            const open = openUnder(direction, idKey(id))
            const seen = say(direction, request(id, 'tools/call', `{"_meta":{"progressToken":${id}}}`))
            if (open.length > 0) expect(seen.duplicateOf).toBeDefined()
            else expect(seen.duplicateOf).toBeUndefined()
            asked.push({ ref: next++, direction, id, key: idKey(id), answers: 0 })
            continue
          }
          const one = asked[pick % Math.max(1, asked.length)]
          if (!one) continue
          if (kind === 'answer' || kind === 'again') {
            if ((one.answers === 0) !== (kind === 'answer')) continue
            const later = asked.some(
              (other) => other.ref > one.ref && other.direction === one.direction && other.key === one.key,
            )
            // A second answer cannot be told from the first one to another request under the same id.
            if (kind === 'again' && (later || openUnder(one.direction, one.key).length > 0)) continue
            const seen = say(opposite(one.direction), result(one.id))
            next += 1
            one.answers += 1
            if (seen.answers !== undefined) expect(seen.answers).toBe(one.ref)
            expect(seen.late === true).toBe(kind === 'again' && seen.answers !== undefined)
          } else {
            const text =
              kind === 'progress'
                ? `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${one.id}}}`
                : `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${one.id}}}`
            if (one.answers > 0) continue
            const seen = say(kind === 'progress' ? opposite(one.direction) : one.direction, text)
            next += 1
            for (const link of seen.links) expect(link).toEqual({ kind, to: one.ref })
          }
        }
      }),
      { numRuns: runs(2000) },
    )
  })

  it('get every link there is when no id is in use twice', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const peers = conversation()
        const open = new Map<string, { ref: number; direction: Direction; id: string }>()
        let next = 0
        for (const { kind, direction, id, pick } of actions) {
          const key = `${direction} ${idKey(id)}`
          if (kind === 'ask' && !open.has(key)) {
            open.set(key, { ref: next++, direction, id })
            if (direction === c2s) peers.client(request(id))
            else peers.server(request(id))
          } else if (open.size > 0) {
            const [found, one] = [...open][pick % open.size]!
            open.delete(found)
            next += 1
            const seen = one.direction === c2s ? peers.server(result(one.id)) : peers.client(result(one.id))
            expect(seen).toEqual({ answers: one.ref, links: [] })
          }
        }
      }),
    )
  })
})
