import { describe, expect, it } from 'vitest'
import { paramsKey } from '../../src/compare/index.js'

const call = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`

describe('the key of a request', () => {
  it.each([
    ['{"name":"a","arguments":{"x":1,"y":2}}', '{"arguments":{"y":2.0,"x":1},"name":"\\u0061"}'],
    ['{"name":"a"}', '{"name":"a","_meta":{"progressToken":7}}'],
    [
      '{"name":"a","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"x"},"traceparent":"00-1"}}',
      '{"name":"a","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"y"}}}',
    ],
  ])('is the same for %s and %s', (one, other) => {
    expect(paramsKey(call(one), 'tools/call')).toBe(paramsKey(call(other), 'tools/call'))
  })

  it.each([
    ['{"name":"a"}', '{"name":"b"}'],
    ['{"name":"a","_meta":{"example.com/tenant":1}}', '{"name":"a"}'],
    ['{"arguments":{"id":12345678901234567890}}', '{"arguments":{"id":12345678901234567891}}'],
  ])('differs between %s and %s', (one, other) => {
    expect(paramsKey(call(one), 'tools/call')).not.toBe(paramsKey(call(other), 'tools/call'))
  })

  it('does not depend on who opens the conversation', () => {
    const hello = (name: string): string =>
      `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"${name}"}}}`
    expect(paramsKey(hello('a'), 'initialize')).toBe(paramsKey(hello('b'), 'initialize'))
  })

  it('tells redacted values apart by their tags, or treats them all as equal', () => {
    const text = call('{"name":"a","arguments":{"token":"[REDACTED]"}}')
    const redacted = (tag: string) => [{ at: '/params/arguments/token', tag }]
    expect(paramsKey(text, 'tools/call', { redacted: redacted('t1') })).not.toBe(
      paramsKey(text, 'tools/call', { redacted: redacted('t2') }),
    )
    expect(paramsKey(text, 'tools/call', { redacted: redacted('t1'), secrets: 'any' })).toBe(
      paramsKey(text, 'tools/call', { redacted: redacted('t2'), secrets: 'any' }),
    )
  })

  it('treats cursors of two runs as equal on request', () => {
    const page = (cursor: string): string =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"${cursor}"}}`
    expect(paramsKey(page('x'), 'tools/list')).not.toBe(paramsKey(page('y'), 'tools/list'))
    expect(paramsKey(page('x'), 'tools/list', { opaque: 'any' })).toBe(
      paramsKey(page('y'), 'tools/list', { opaque: 'any' }),
    )
  })
})
