import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createMirroredTools,
  decodedHeader,
  encodedHeader,
  isSameHeader,
  JsonObject,
  mirroredValue,
} from '../../src/wire/index.js'

const listOf = (...tools: object[]): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } })
const tool = (name: string, properties: object): object => ({
  name,
  inputSchema: { type: 'object', properties },
})

describe('tools whose arguments headers repeat', () => {
  it('are learnt from lists, those inside of others too; the newest list counts', () => {
    const tools = createMirroredTools()
    tools.learn(
      listOf(
        tool('a', {
          place: { type: 'string', 'x-mcp-header': 'Place' },
          inner: { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } },
        }),
        tool('b', {}),
      ),
    )
    expect(tools.of('a')).toEqual([
      { header: 'Place', path: ['place'] },
      { header: 'N', path: ['inner', 'n'] },
    ])
    expect(tools.of('b')).toEqual([])
    expect(tools.of('c')).toBeUndefined()
    tools.learn(listOf(tool('a', {})))
    expect(tools.of('a')).toEqual([])
  })

  it('want nothing that is no header name, and nothing of lists that are none', () => {
    const tools = createMirroredTools()
    for (const header of ['', 'a b', 'x\r\nEvil: 1', 'å', 7]) {
      tools.learn(listOf(tool('a', { place: { 'x-mcp-header': header } })))
      expect(tools.of('a')).toEqual([])
    }
    for (const odd of ['[]', '{"result":[]}', '{"result":{"tools":[1,{"name":1}]}}']) tools.learn(odd)
  })

  it('are forgotten, the oldest first, beyond a number and a size', () => {
    const tools = createMirroredTools()
    for (let n = 0; n < 10_001; n += 1) tools.learn(listOf(tool(`tool-${n}`, {})))
    expect([tools.of('tool-0'), tools.of('tool-1')]).toEqual([undefined, []])
    const long = 'x'.repeat(1024 * 1024)
    for (const name of ['p', 'q', 'r', 's', 't']) tools.learn(listOf(tool(name + long, {})))
    expect([tools.of('tool-10000'), tools.of(`p${long}`), tools.of(`t${long}`)]).toEqual([
      undefined,
      undefined,
      [],
    ])
  })
})

describe('the header of an argument', () => {
  it('is the text of a string, a number or a boolean, and nothing of others', () => {
    const given = new JsonObject(
      '{"s":"\\u00e5","n":42.0,"e":-1E3,"f":0.5,"b":true,"z":null,"o":{"x":"in"},"a":[1]}',
      0,
    )
    const said = ['s', 'n', 'e', 'f', 'b', 'z', 'o', 'a', 'none'].map((name) => mirroredValue(given, [name]))
    expect(said).toEqual(['å', '42', '-1000', '0.5', 'true', undefined, undefined, undefined, undefined])
    expect(mirroredValue(given, ['o', 'x'])).toBe('in')
  })

  it('is printable ASCII, whatever it is of, and can be read back', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('=?base64?eA==?=')), (value) => {
        const written = encodedHeader(value)
        expect(written).toMatch(/^([\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?)?$/)
        const coded = /^=\?base64\?(.*)\?=$/.exec(written)?.[1]
        expect(coded === undefined ? written : Buffer.from(coded, 'base64').toString()).toBe(value)
        expect(decodedHeader(written)).toBe(value)
      }),
    )
  })

  it.each(['=?base64?=?=', '=?base64?eA?=', '=?base64?e A==?=', 'å', 'x\u0000'])(
    'is not read from %j',
    (value) => {
      expect(decodedHeader(value)).toBeUndefined()
    },
  )

  it.each([
    ['42.0', '42', true],
    ['42', '43', false],
    ['1e3', '1000', false],
    ['x', 'x', true],
  ])('as %s and as %s is the same: %s', (one, other, isSame) => {
    expect(isSameHeader(one, other)).toBe(isSame)
  })
})
