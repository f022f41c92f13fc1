import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as fc from 'fast-check'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { isLong, runs } from '../long.js'
import { parseSavedCalls, type SavedCallsReading } from '../../src/saved-calls/index.js'

const published = resolve(import.meta.dirname, '../../docs/schemas/saved-calls.schema.json')
const validate = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(published, 'utf8')) as object,
)

const read = (text: string, given: Record<string, string> = {}): SavedCallsReading =>
  parseSavedCalls(
    text,
    { given: new Map(Object.entries(given)), env: { TOKEN: 'sesame' } },
    { names: new Set(), secrets: new Set() },
  )

const request = { tool: 'x' }
const call = { name: 'a', request }
const expecting = (expect: object): object => ({ calls: [{ ...call, expect }] })

describe('a file of saved calls', () => {
  it.each<[string, object]>([
    ['nothing but a call', { calls: [call] }],
    ['a method', { calls: [{ name: 'a', request: { method: 'ping' } }] }],
    ['a method and params', { calls: [{ name: 'a', request: { method: 'x/y', params: { a: [1] } } }] }],
    ['a command', { server: { command: ['node', 's.js'], env: { A: 'b' } }, calls: [call] }],
    ['a URL', { server: { url: 'https://example.org/mcp', headers: { A: 'b' } }, calls: [call] }],
    ['a server of a client', { calls: [{ ...call, server: 'github' }] }],
    ['variables', { variables: { a: 1, b: { c: [null] } }, calls: [call] }],
    ['a result', expecting({ result: {}, level: 'exact', ignore: ['$.result.a'], match: { '$.a': 'type' } })],
    ['an error', expecting({ error: { code: 1 }, level: 'schema' })],
    ['a failure', expecting({ fails: true, values: { '$.error.code': 1 }, match: { '$.error': 'any' } })],
    ['a value with a matcher', expecting({ values: { '$.a': 1 }, match: { '$.a': 'number~5%' } })],
    ['no expectation at all', expecting({})],
  ])('with %s is read, and fits the schema', (_, file) => {
    expect(read(stringify(file)).diagnostics).toEqual([])
    expect(validate(file)).toBe(true)
  })

  it.each<[string, object]>([
    ['no calls', {}],
    ['an empty list', { calls: [] }],
    ['an unknown member', { calls: [call], call }],
    ['an unknown member of a call', { calls: [{ ...call, expects: {} }] }],
    ['an unknown member of a request', { calls: [{ name: 'a', request: { tool: 'x', params: {} } }] }],
    ['an unknown member of a server', { server: { command: ['x'], cwd: '/' }, calls: [call] }],
    ['an unknown expectation', expecting({ results: {} })],
    ['no name', { calls: [{ request }] }],
    ['a name that is a number', { calls: [{ name: 1, request }] }],
    ['no request', { calls: [{ name: 'a' }] }],
    ['a tool and a method', { calls: [{ name: 'a', request: { tool: 'x', method: 'y' } }] }],
    ['arguments that are a list', { calls: [{ name: 'a', request: { tool: 'x', arguments: [] } }] }],
    ['a command and a URL', { server: { command: ['x'], url: 'http://x' }, calls: [call] }],
    ['a command that is a text', { server: { command: 'node s.js' }, calls: [call] }],
    ['a command without words', { server: { command: [] }, calls: [call] }],
    ['a word that is a number', { server: { command: ['node', 1] }, calls: [call] }],
    ['headers of a command', { server: { command: ['x'], headers: {} }, calls: [call] }],
    ['a variable whose name none can have', { variables: { 'a b': 1 }, calls: [call] }],
    ['a result and an error', expecting({ result: {}, error: {} })],
    ['a result and a failure', expecting({ result: {}, fails: true })],
    ['a failure that is none', expecting({ fails: false })],
    ['a result that is no mapping', expecting({ result: [] })],
    ['an unknown level', expecting({ result: {}, level: 'strict' })],
    ['a level without a whole answer', expecting({ level: 'exact' })],
    ['places to ignore without a whole answer', expecting({ ignore: [] })],
    ['a matcher that is a number', expecting({ match: { '$.a': 1 } })],
  ])('with %s is refused, by the schema too', (_, file) => {
    const { calls, diagnostics } = read(stringify(file))
    expect(calls).toEqual([])
    expect(diagnostics[0]).toMatchObject({ code: 'bad-saved-calls', at: { line: expect.any(Number) } })
    expect(validate(file)).toBe(false)
  })

  it.each<[string, object, RegExp]>([
    ['a URL of another kind', { server: { url: 'ftp://x' }, calls: [call] }, /url: expected a URL/],
    ['two calls of one name', { calls: [call, call] }, /an earlier call already has this name/],
    ['a path that is none', expecting({ values: { 'result.a': 1 } }), /values: it /],
    [
      'a matcher that compares two values',
      expecting({ match: { '$.a': 'unordered' } }),
      /compares two values/,
    ],
    ['a variable in a variable', { variables: { a: 'b', c: '${a}' }, calls: [call] }, /unknown variable a/],
    ['half a variable', { calls: [{ name: 'a', request: { tool: '${x' } }] }, /and \$\$\{ for \$\{/],
    [
      'a list in a text',
      { variables: { a: [1] }, calls: [{ name: 'a', request: { tool: 'x${a}' } }] },
      /part of a string/,
    ],
  ])('with %s is refused', (_, file, why) => {
    expect(read(stringify(file)).diagnostics).toMatchObject([{ message: expect.stringMatching(why) }])
  })

  it('with one name twice is refused at the second one', () => {
    const text = 'calls:\n  - name: a\n    request: {tool: x, arguments: {b: 1, b: 2}}\n'
    expect(read(text).diagnostics).toMatchObject([
      { message: 'is not valid YAML here: map keys must be unique', at: { line: 3, column: 42 } },
    ])
  })

  it('keeps the digits of numbers, also where they are variables', () => {
    const file =
      'variables: {n: 1.50}\ncalls: [{name: a, request: {tool: x, arguments: {a: "${n}", b: 12345678901234567890}}}]'
    const [whole] = read(file).calls
    expect(whole!.params).toBe('{"name":"x","arguments":{"a":1.50,"b":12345678901234567890}}')
    expect(read(file, { n: '[2.0]' }).calls[0]!.params).toContain('"a":[2.0]')
  })

  it('of any text is read or refused, and says where', () => {
    const whole = stringify({
      server: { command: ['node', '${a}'], env: { A: '${env:TOKEN}' } },
      variables: { a: 'b', c: [1, 2.5] },
      calls: [
        { ...call, expect: { values: { '$.result.a': '${c}' }, match: { '$.result.b': 'uuid+timestamp' } } },
        { name: 'b', request: { method: 'x', params: { y: null } }, expect: { result: { z: '$${' } } },
      ],
    })
    expect(read(whole).diagnostics).toEqual([])
    const pieces = fc.constantFrom(
      '',
      '${',
      '}',
      '- ',
      ': ',
      '\n',
      '  ',
      '{',
      '[',
      '*a',
      '&a ',
      '!!binary ',
      '"',
      '|',
      '$',
      '~',
      'é',
    )
    const cut = fc.tuple(fc.nat(whole.length), fc.nat(12), pieces)
    fc.assert(
      fc.property(fc.array(cut, { minLength: 1, maxLength: 4 }), (cuts) => {
        let text = whole
        for (const [at, length, piece] of cuts) text = text.slice(0, at) + piece + text.slice(at + length)
        const { calls, diagnostics } = read(text)
        for (const { message, at } of diagnostics)
          expect([message, at?.line]).toEqual([expect.stringMatching(/\S/), expect.any(Number)])
        if (calls.length === 0) expect(diagnostics).not.toEqual([])
        for (const { params } of calls) expect(JSON.parse(params)).toBeTypeOf('object')
      }),
      { numRuns: runs(500) },
    )
  })

  it('with many faults is refused without delay', () => {
    const length = isLong ? 60_000 : 5_000
    const members = Array.from({ length }, (_, i) => `m${i}: 1`)
    expect(read(`${members.join('\n')}\ncalls: []\n`).diagnostics).toHaveLength(length + 1)
  })

  it('tells no value of the environment in what is wrong', () => {
    const wrong = {
      server: { url: '${env:TOKEN}' },
      calls: [{ name: 'a', request: { tool: 'x', arguments: '${env:TOKEN}' } }],
    }
    const { diagnostics } = read(stringify(wrong))
    expect(diagnostics).toHaveLength(2)
    expect(JSON.stringify(diagnostics)).not.toContain('sesame')
  })
})
