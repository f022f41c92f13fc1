import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callKey } from '../../src/mock/call-index.js'
import { toLiveText } from '../../src/mock/live-text.js'
import { matchRedacted } from '../../src/mock/redacted-call.js'

const call = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`

describe('a recorded message with the ids of the present', () => {
  it('differs from the recorded one in the id only, whatever it holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.oneof(fc.integer(), fc.string()), (result, id) => {
        const before = JSON.stringify({ jsonrpc: '2.0', result, id: 'recorded' })
        const after = toLiveText(before, [], { id: JSON.stringify(id) })
        expect(after).toBe(before.replace(/"recorded"\}$/, () => `${JSON.stringify(id)}}`))
      }),
    )
  })

  it('keeps spelling, order and repeated members', () => {
    const text = '{ "id" : 1.0 , "result":{"n":1e2,"n":2,"\\u0061":[ ]},"id":7}'
    expect(toLiveText(text, [], { id: '"x"' })).toBe(text.replace('"id":7', '"id":"x"'))
  })

  it('puts values in the place of redacted ones: whole, and within a string', () => {
    const text = '{"result":{"a":"[REDACTED]","b":"x [REDACTED] y [REDACTED]","c":"[REDACTED]"}}'
    const marks = [
      { at: '/result/a', tag: 't1' },
      { at: '/result/b', tag: 't2' },
      { at: '/result/b', tag: 't1' },
      { at: '/result/c', tag: 't3' },
    ]
    const values: Record<string, string> = { t1: '"o\\"ne"', t2: '"two"' }
    expect(toLiveText(text, marks, { secret: (tag) => values[tag] })).toBe(
      '{"result":{"a":"o\\"ne","b":"x two y o\\"ne","c":"[REDACTED]"}}',
    )
  })
})

describe('what a call asks for', () => {
  it.each([
    [
      'order and spelling',
      '{"name":"a","arguments":{"x":1,"y":"é"}}',
      '{"arguments":{"y":"\\u00e9","x":1.0},"name":"a"}',
    ],
    ['metadata', '{"name":"a"}', '{"name":"a","_meta":{"progressToken":3,"any/thing":"else"}}'],
    ['empty arguments', '{"name":"a"}', '{"name":"a","arguments":{}}'],
  ])('does not depend on %s', (_, one, other) => {
    expect(callKey(call(one), 'tools/call')).toBe(callKey(call(other), 'tools/call'))
  })

  it.each([
    ['a type', '{"name":"a","arguments":{"x":1}}', '{"name":"a","arguments":{"x":"1"}}'],
    ['a member', '{"name":"a","arguments":{"x":1}}', '{"name":"a","arguments":{"x":1,"y":null}}'],
    [
      'a large number',
      '{"arguments":{"x":12345678901234567890}}',
      '{"arguments":{"x":12345678901234567891}}',
    ],
  ])('depends on %s', (_, one, other) => {
    expect(callKey(call(one), 'tools/call')).not.toBe(callKey(call(other), 'tools/call'))
  })
})

describe('a call of which a part was redacted', () => {
  const recorded = {
    text: call('{"name":"a","arguments":{"key":"[REDACTED]","url":"x?t=[REDACTED]&u=1","n":1}}'),
    marks: [
      { at: '/params/arguments/key', tag: 't1' },
      { at: '/params/arguments/url', tag: 't1' },
    ],
  }
  const live = (key: string, url: string, n = '1'): string =>
    call(`{"name":"a","arguments":{"n":${n},"key":${key},"url":${url}},"_meta":{}}`)

  it('is any with the same around it, and tells what stood there', () => {
    const found = matchRedacted(recorded, live('"s3"', '"x?t=s3&u=1"', '1.0'), new Map())
    expect(found).toEqual(new Map([['t1', '"s3"']]))
  })

  it.each([
    ['what was one secret is two', live('"s3"', '"x?t=s4&u=1"'), new Map()],
    ['the secret is known to be another', live('"s3"', '"x?t=s3&u=1"'), new Map([['t1', '"s9"']])],
    ['what is around it differs', live('"s3"', '"y?t=s3&u=1"'), new Map()],
    ['another value differs', live('"s3"', '"x?t=s3&u=1"', '2'), new Map()],
    ['there is no string where it was a part of one', live('"s3"', '5'), new Map()],
  ])('is not one where %s', (_, text, known) => {
    expect(matchRedacted(recorded, text, known)).toBeUndefined()
  })
})
