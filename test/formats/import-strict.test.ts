import { describe, expect, it } from 'vitest'
import { callsIn, envelope, imported, refusal } from './import-stage.js'

const profile = 'strict'
const call = (id: string, more = ''): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t"}${more}}\n`
const answer = (id: string, result = '{}'): string => `{"jsonrpc":"2.0","id":${id},"result":${result}}\n`

describe('the strict profile refuses', () => {
  it.each([
    ['{"id":1,"method":"x"}', 'MCP event at source line 1 must carry JSON-RPC version 2.0'],
    ['{"jsonrpc":2.0,"method":"x"}', 'MCP event at source line 1 must carry JSON-RPC version 2.0'],
    ['[]', 'MCP event at source line 1 must be a JSON object'],
    ['{"jsonrpc":"2.0","method":null}', 'MCP event at source line 1: JSON-RPC method must be a string'],
    ['{"jsonrpc":"2.0","id":1}', 'must carry exactly one of result or error'],
    [
      '{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}',
      'exactly one of result or error',
    ],
    ['{"jsonrpc":"2.0","id":1,"error":null}', 'must carry an integer code and string message'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1.0,"message":""}}', 'an integer code and string message'],
    ['{"jsonrpc":"2.0","id":null,"result":{}}', 'JSON-RPC id on source line 1 must be a string or a number'],
    ['{"jsonrpc":"2.0","id":null,"method":"x"}', 'JSON-RPC id on source line 1 must be a string or a number'],
    ['{"jsonrpc":"2.0","method":"ping"}', 'JSON-RPC id on source line 1 must be a string or a number'],
    ['{"jsonrpc":"2.0","id":[],"method":"ping"}', 'JSON-RPC id on source line 1 must not be an array'],
    [
      '{"jsonrpc":"2.0","method":"x","a":{"b":[{"c":1,"c":2}]}}',
      'invalid JSON on line 1: JSON object contains',
    ],
    [
      '{"jsonrpc":"2.0","method":"x","a\\u0062":1,"ab":2}',
      'JSON object contains a duplicate member at line 1',
    ],
  ])('%s', async (line, words) => {
    expect(await refusal('jsonrpc', line, profile)).toContain(words)
  })

  it.each([
    ['{"request":null}', 'MCP event at source line 1 must be a JSON object'],
    ['{"request":null,"response":{}}', 'must contain exactly one of request, response, or sse'],
    ['{"sse":null}', 'invalid streamable-http transcript: sse slot is present and null at line 1'],
    ['[1,null]', 'invalid type: sequence, expected a transport transcript entry with unique members'],
    ['{"sse":[]}', 'invalid type: sequence, expected an SSE envelope with unique members'],
    ['{"x":1,"x":2}', 'invalid streamable-http transcript: JSON object contains a duplicate member'],
    ['{"sse":{"data":{"method":"x"}}}', 'MCP event at source line 1 must carry JSON-RPC version 2.0'],
    [
      '{"sse":{"data":"{\\"a\\":1,\\"a\\":1}"}}',
      'invalid SSE data payload: JSON object contains a duplicate',
    ],
    ['{"response":{"error":"invalid_token"}}', 'MCP event at source line 1 must carry JSON-RPC version 2.0'],
  ])('the entry %s', async (entry, words) => {
    expect(await refusal('streamable-http', envelope([entry]), profile)).toContain(words)
  })

  it.each([
    ['streamable-http', '{"transport":"streamable-http","x":1,"x":1,"entries":[]}', 'a duplicate member'],
    ['streamable-http', '{"transport":"streamable-http","entries":[],"entries":[]}', 'a duplicate member'],
    ['streamable-http', '["streamable-http"]', 'expected a transport transcript with unique members'],
    [
      'inspector',
      '{"events":[],"events":[]}',
      'invalid inspector JSON: JSON object contains a duplicate member',
    ],
    ['inspector', '{"x":1,"x":1}', 'invalid inspector JSON: JSON object contains a duplicate member'],
  ])('the document %s %s', async (format, text, words) => {
    expect(await refusal(format, text, profile)).toContain(words)
  })

  it('two open requests under one id, of whatever method and side', async () => {
    const list = '{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n'
    expect(await refusal('jsonrpc', call('1') + list, profile)).toContain(
      'two outstanding JSON-RPC requests share an id at source line 2',
    )
  })
})

describe('the strict profile takes', () => {
  it('an id again after its answer, and ids of both types side by side', async () => {
    const text =
      call('1') + call('"1"') + answer('"1"', '"s"') + answer('1', '"n"') + call('1') + answer('1', '3')
    const result = await imported('jsonrpc', text, { profile })
    expect(callsIn(result)).toEqual(['t null "s" null', 't null "n" null', 't null 3 null'])
  })

  it('numbers that are no 64 bit integers as ids that nothing answers', async () => {
    for (const id of ['1.5', '1.0', '-0', '1e0', '18446744073709551616']) {
      const result = await imported('jsonrpc', call(id) + answer(id), { profile })
      expect(callsIn(result)).toEqual(['t null null null'])
      expect(result.said.join()).not.toContain('orphan')
    }
    expect(
      callsIn(
        await imported('jsonrpc', call('18446744073709551615') + answer('18446744073709551615'), { profile }),
      ),
    ).toEqual(['t null {} null'])
  })

  it('an error without an id, and a notification', async () => {
    const text =
      '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":""}}\n{"jsonrpc":"2.0","method":"x","params":{}}\n'
    expect((await imported('jsonrpc', text, { profile })).messages).toBe(2)
  })

  it('a call that time puts before the answer to the one before it under the same id', async () => {
    const text =
      call('1', ',"timestamp":1') +
      answer('1').replace('{', '{"timestamp":9,') +
      call('1', ',"timestamp":2') +
      answer('1', '2').replace('{', '{"timestamp":10,')
    expect(callsIn(await imported('jsonrpc', text, { profile }))).toEqual([
      't null {} null',
      't null null timeout/no_response',
    ])
  })

  it('a document that is no transcript of its kind, with a note', async () => {
    const { said, messages } = await imported('inspector', '{"messages":[]}', { profile })
    expect([messages, said]).toEqual([0, [expect.stringContaining('no MCP message found')]])
  })
})
