import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { protocolVersions, type Envelope } from '../../src/model/index.js'
import { idKey, readEnvelope } from '../../src/wire/index.js'
import { runs } from '../long.js'

const read = (value: unknown): Envelope => readText(JSON.stringify(value))
const readText = (text: string): Envelope => readEnvelope(text, 0)
const request = (method: string, params?: unknown, id: unknown = 1): Envelope =>
  read({ jsonrpc: '2.0', id, method, params })
const notification = (method: string, params?: unknown): Envelope => read({ jsonrpc: '2.0', method, params })
const result = (value: unknown, id: unknown = 1): Envelope => read({ jsonrpc: '2.0', id, result: value })

const metaKey = (name: string): string => `io.modelcontextprotocol/${name}`

describe('the kind of a message', () => {
  it.each([
    ['a request', '{"jsonrpc":"2.0","id":1,"method":"ping"}', 'request'],
    ['a request with a string id', '{"jsonrpc":"2.0","id":"","method":"ping"}', 'request'],
    ['a request with a fractional id', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 'request'],
    ['a notification', '{"jsonrpc":"2.0","method":"notifications/initialized"}', 'notification'],
    ['a result', '{"jsonrpc":"2.0","id":1,"result":{}}', 'result'],
    ['a result that is null', '{"jsonrpc":"2.0","id":1,"result":null}', 'result'],
    ['an error', '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}', 'error'],
    [
      'an error whose id is null',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}',
      'error',
    ],
    ['an error without id', '{"jsonrpc":"2.0","error":{"code":-32700,"message":""}}', 'error'],
    ['members in any order', '{"result":1,"id":2,"jsonrpc":"2.0"}', 'result'],
    ['white space everywhere', '{ "jsonrpc" : "2.0" ,\t"id" : 1 , "method" : "ping" }', 'request'],
    ['escaped member names', '{"json\\u0072pc":"2.0","\\u0069d":1,"metho\\u0064":"pin\\u0067"}', 'request'],
    ['unknown members', '{"jsonrpc":"2.0","id":1,"method":"ping","x":[{"id":2}]}', 'request'],
  ])('knows %s', (_, text, kind) => {
    expect(readText(text)).toMatchObject({ kind })
  })

  it.each([
    ['no version', '{"id":1,"method":"ping"}', '"jsonrpc"'],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', '"jsonrpc"'],
    ['a version that is a number', '{"jsonrpc":2.0,"id":1,"method":"ping"}', '"jsonrpc"'],
    ['a request whose id is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', 'is null'],
    ['a request whose id is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', 'is object'],
    ['a result whose id is null', '{"jsonrpc":"2.0","id":null,"result":{}}', 'a result without'],
    ['a result without id', '{"jsonrpc":"2.0","result":{}}', 'a result without'],
    ['a result and an error', '{"jsonrpc":"2.0","id":1,"result":1,"error":{}}', 'both'],
    ['a method and a result', '{"jsonrpc":"2.0","id":1,"method":"a","result":1}', 'both'],
    ['a method that is no string', '{"jsonrpc":"2.0","id":1,"method":7}', '"method"'],
    ['an error that is no object', '{"jsonrpc":"2.0","id":1,"error":"no"}', '"error"'],
    ['an error whose id is an array', '{"jsonrpc":"2.0","id":[],"error":{}}', 'array'],
    ['nothing to say', '{"jsonrpc":"2.0","id":1}', 'has no'],
    ['an empty object', '{}', '"jsonrpc"'],
    ['an array inside a batch', '[1]', 'not a JSON object'],
  ])('calls %s invalid and says why', (_, text, problem) => {
    expect(readText(text)).toMatchObject({ kind: 'invalid', problem: expect.stringContaining(problem) })
  })

  it('lets the last of repeated members count, as JSON.parse does', () => {
    const text = '{"jsonrpc":"1.0","id":1,"method":"a","jsonrpc":"2.0","id":"2","method":"b"}'
    expect(readText(text)).toMatchObject({ kind: 'request', id: '"2"', method: 'b' })
  })

  it('keeps ids as they were written', () => {
    const id = '123456789012345678901234567890'
    expect(readText(`{"jsonrpc":"2.0","id":${id},"method":"a"}`).id).toBe(id)
    expect(readText('{"jsonrpc":"2.0","id":1.0,"result":0}').id).toBe('1.0')
    expect(idKey('1.0')).toBe(idKey('1'))
    expect(idKey('"1"')).not.toBe(idKey('1'))
    expect(idKey('"\\u0061"')).toBe(idKey('"a"'))
    expect(idKey(id)).not.toBe(idKey('123456789012345678901234567891'))
  })

  it('reads each element of a batch where it stands', () => {
    const text = ' [{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]'
    expect(readEnvelope(text, text.indexOf('{'))).toMatchObject({ kind: 'request', method: 'a' })
    expect(readEnvelope(text, text.lastIndexOf('{'))).toMatchObject({ kind: 'notification', method: 'b' })
  })

  it('walks 20,000 levels without recursion', () => {
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${deep}}}`
    expect(readText(text)).toMatchObject({ kind: 'request', subject: 'x', argumentsText: deep })
  })
})

describe('the subject of a message', () => {
  it.each([
    ['tools/call', { name: 'echo', arguments: {} }, 'echo'],
    ['prompts/get', { name: 'greet' }, 'greet'],
    ['resources/read', { uri: 'file:///a' }, 'file:///a'],
    ['resources/subscribe', { uri: 'file:///a' }, 'file:///a'],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' } }, 'greet'],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'file:///{p}' } }, 'file:///{p}'],
    ['tasks/get', { taskId: 't1' }, 't1'],
    ['tools/list', {}, undefined],
    ['initialize', { protocolVersion: '2025-11-25', clientInfo: { name: 'c', version: '1' } }, undefined],
    ['tools/call', { name: 7 }, undefined],
    ['tools/call', [], undefined],
  ])('%s %j', (method, params, subject) => {
    expect(request(method, params).subject).toBe(subject)
  })

  it('reads the resource of an update', () => {
    expect(notification('notifications/resources/updated', { uri: 'u' }).subject).toBe('u')
  })
})

describe('versions and peers', () => {
  const legacy = protocolVersions.filter((version) => version < '2026')

  it.each(legacy)('reads the handshake of %s', (version) => {
    const asked = request('initialize', {
      protocolVersion: version,
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
    })
    expect(asked).toMatchObject({ protocolVersion: version, peer: { name: 'c', version: '1' } })
    expect(asked.modern).toBeUndefined()
    const agreed = result({ protocolVersion: version, capabilities: {}, serverInfo: { name: 's' } })
    expect(agreed).toMatchObject({ protocolVersion: version, peer: { name: 's', version: '' } })
  })

  it('reads the metadata that 2026-07-28 puts into every request and result', () => {
    const _meta = {
      [metaKey('protocolVersion')]: '2026-07-28',
      [metaKey('clientInfo')]: { name: 'c', version: '2' },
      progressToken: 'p',
    }
    expect(request('tools/call', { name: 'x', _meta })).toMatchObject({
      protocolVersion: '2026-07-28',
      modern: true,
      peer: { name: 'c', version: '2' },
      progressToken: '"p"',
    })
    const answer = result({
      resultType: 'complete',
      _meta: { [metaKey('serverInfo')]: { name: 's', version: '3' } },
    })
    expect(answer).toMatchObject({ resultType: 'complete', peer: { name: 's', version: '3' } })
  })

  it('takes a version in the result of some other method for what it is: data', () => {
    expect(result({ protocolVersion: '9' }).protocolVersion).toBeUndefined()
  })

  it('reads server/discover', () => {
    expect(
      request('server/discover', { _meta: { [metaKey('protocolVersion')]: '2026-07-28' } }),
    ).toMatchObject({ method: 'server/discover', modern: true })
  })
})

describe('relations of a message', () => {
  it('reads progress tokens, of requests and of notifications, as exact text', () => {
    expect(request('tools/call', { _meta: { progressToken: 0 } }).progressToken).toBe('0')
    expect(notification('notifications/progress', { progressToken: '0', progress: 1 }).progressToken).toBe(
      '"0"',
    )
    expect(notification('notifications/progress', { progressToken: {} }).progressToken).toBeUndefined()
    expect(
      notification('notifications/message', { _meta: { progressToken: 1 } }).progressToken,
    ).toBeUndefined()
  })

  it('reads which request is cancelled', () => {
    expect(notification('notifications/cancelled', { requestId: 'a', reason: 'r' }).cancels).toBe('"a"')
    expect(notification('notifications/cancelled', {}).cancels).toBeUndefined()
  })

  it('reads tasks of 2025-11-25 and of the 2026 extension', () => {
    expect(result({ task: { taskId: 't', status: 'working' } })).toMatchObject({
      taskId: 't',
      createsTask: true,
    })
    expect(result({ resultType: 'task', taskId: 't' })).toMatchObject({ taskId: 't', createsTask: true })
    expect(result({ resultType: 'task', task: { taskId: 't' } })).toMatchObject({ createsTask: true })
    expect(notification('notifications/tasks/status', { taskId: 't' }).taskId).toBe('t')
    const related = { _meta: { [metaKey('related-task')]: { taskId: 't' } } }
    expect(request('sampling/createMessage', related).taskId).toBe('t')
    expect(result({ content: [], ...related })).toMatchObject({ taskId: 't' })
    expect(result({ content: [], ...related }).createsTask).toBeUndefined()
  })

  it('reads both halves of a multi round-trip', () => {
    expect(
      result({
        resultType: 'input_required',
        inputRequests: { a: { method: 'roots/list' }, b: {} },
        requestState: 's\u0000',
      }),
    ).toMatchObject({ resultType: 'input_required', inputRequests: ['a', 'b'], requestState: 's\u0000' })
    expect(
      request('tools/call', { name: 'x', arguments: { n: 1 }, inputResponses: { a: {} }, requestState: 's' }),
    ).toMatchObject({ inputResponses: ['a'], requestState: 's', argumentsText: '{"n":1}' })
  })

  it('reads the subscription of a notification', () => {
    const params = { _meta: { [metaKey('subscriptionId')]: 7 } }
    expect(notification('notifications/tools/list_changed', params).subscriptionId).toBe('7')
  })

  it('reads tool errors and JSON-RPC errors', () => {
    expect(result({ content: [], isError: true }).toolError).toBe(true)
    expect(result({ content: [], isError: false }).toolError).toBeUndefined()
    expect(readText('{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"a\\nb"}}')).toMatchObject({
      errorCode: '-32602',
      errorMessage: 'a\nb',
    })
  })
})

describe('any message', () => {
  const id = fc.option(fc.oneof(fc.integer(), fc.string(), fc.double({ noNaN: true }), fc.constant(null)), {
    nil: undefined,
  })
  const word = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('tools/call', 'initialize', 'a"\\b'))
  const message = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '1.0', 2),
      id,
      method: fc.oneof(word, fc.integer()),
      params: fc.oneof(
        fc.jsonValue(),
        fc.record({ name: word, uri: word, taskId: word, _meta: fc.jsonValue() }),
      ),
      result: fc.jsonValue(),
      error: fc.oneof(fc.jsonValue(), fc.record({ code: fc.integer(), message: word })),
    },
    { requiredKeys: [] },
  )

  it('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(message, fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const parsed = JSON.parse(text) as Record<string, unknown>
        const envelope = readText(text)
        expect(envelope.method).toBe(typeof parsed['method'] === 'string' ? parsed['method'] : undefined)
        expect(envelope.id === undefined ? undefined : JSON.parse(envelope.id)).toEqual(parsed['id'])
        expect(envelope.kind).toBe(kindOf(parsed))
      }),
      { numRuns: runs(1000) },
    )
  })

  it('in any JSON text has a kind', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(readText(text).kind).toBeTypeOf('string')
      }),
    )
  })
})

/** The same rules, over a parsed value. */
function kindOf(value: Record<string, unknown>): string {
  const has = (name: string): boolean => Object.hasOwn(value, name)
  const named = typeof value['id'] === 'string' || typeof value['id'] === 'number'
  if (value['jsonrpc'] !== '2.0') return 'invalid'
  if (has('method')) {
    if (typeof value['method'] !== 'string' || has('result') || has('error')) return 'invalid'
    if (!has('id')) return 'notification'
    return named ? 'request' : 'invalid'
  }
  if (has('result')) return !has('error') && named ? 'result' : 'invalid'
  const { error } = value
  if (typeof error !== 'object' || error === null || Array.isArray(error)) return 'invalid'
  return named || !has('id') || value['id'] === null ? 'error' : 'invalid'
}
