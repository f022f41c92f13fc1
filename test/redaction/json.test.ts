import { describe, expect, it } from 'vitest'
import { Redactor } from '../../src/redaction/index.js'
import { defaultRedactor, redacted } from './redacting.js'

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'

describe('redacting JSON', () => {
  it('answers nothing for a message without secrets', () => {
    const redactor = defaultRedactor()
    expect(redactor.json('{"jsonrpc":"2.0","id":1,"method":"ping"}')).toBeUndefined()
    expect(redactor.json('{"params":{"token":1,"maxTokens":5}}')).toBeUndefined()
    expect(redactor.report()).toEqual([])
    expect(redactor.name).toBe('defaults')
  })

  it('keeps every other byte', () => {
    expect(redacted('{ "n" : 1.0,\t"token" :  "x" , "big":12345678901234567890, "\\u0061":"\\/" }')).toBe(
      '{ "n" : 1.0,\t"token" :  "[REDACTED]" , "big":12345678901234567890, "\\u0061":"\\/" }',
    )
  })

  it('catches duplicates that a parser would not show, and escaped names', () => {
    const found = defaultRedactor().json(
      '{"params":{"token":"a","token":5,"\\u0074\\u006fken":"b","token":"a"}}',
    )
    expect(found?.raw).toBe(
      '{"params":{"token":"[REDACTED]","token":5,"\\u0074\\u006fken":"[REDACTED]","token":"[REDACTED]"}}',
    )
    expect(found?.red).toEqual([
      { at: '/params/token', tag: 'tag of a' },
      { at: '/params/token', tag: 'tag of b' },
      { at: '/params/token', tag: 'tag of a' },
    ])
  })

  it('splices at the right place in a string with escapes', () => {
    expect(redacted('{"text":"\\ud83d\\ude00\\n\\"Be\\u0061rer abcd\\u0065fgh\\"\\t\u20ac"}')).toBe(
      '{"text":"\\ud83d\\ude00\\n\\"Be\\u0061rer [REDACTED]\\"\\t\u20ac"}',
    )
    expect(redacted('{"text":"https:\\/\\/u:p@h\\/"}')).toBe('{"text":"https:\\/\\/u:[REDACTED]@h\\/"}')
  })

  it('points into batches, with the escapes of RFC 6901', () => {
    const raw = '[{"params":{"a/b~c":[0,{"token":"x"}]}},{"result":{"pwd":["y"]}}]'
    expect(defaultRedactor().json(raw)).toEqual({
      raw: '[{"params":{"a/b~c":[0,{"token":"[REDACTED]"}]}},{"result":{"pwd":"[REDACTED]"}}]',
      red: [
        { at: '/0/params/a~1b~0c/1/token', tag: 'tag of x' },
        { at: '/1/result/pwd', tag: 'tag of ["y"]' },
      ],
    })
  })

  it('takes a secret out of a name, and never repeats it in a pointer', () => {
    const found = new Redactor({ defaults: true, tag: () => 'tag' }).json(
      `{"params":{"x ${jwt}":{"token":"t"}}}`,
    )
    expect(found).toEqual({
      raw: '{"params":{"x [REDACTED]":{"token":"[REDACTED]"}}}',
      red: [
        { at: '/params/x [REDACTED]', tag: 'tag' },
        { at: '/params/x [REDACTED]/token', tag: 'tag' },
      ],
    })
  })

  it('tags equal secrets equally, wherever and however they are written', () => {
    const found = defaultRedactor().json(
      `{"params":{"token":"${jwt}","text":"x ${jwt} y","pwd":"${jwt.replace('e', '\\u0065')}"}}`,
    )
    expect(new Set(found?.red.map(({ tag }) => tag))).toEqual(new Set([`tag of ${jwt}`]))
    expect(found?.red).toHaveLength(3)
  })

  it('counts what fired, without values', () => {
    const redactor = defaultRedactor()
    redactor.json('{"params":{"token":"x","accessToken":"y","text":"Bearer abcdefgh"}}')
    redactor.line('password=x', 'stderr')
    expect(redactor.report()).toEqual([
      { rule: 'key:token', count: 2 },
      { rule: 'bearer', count: 1 },
      { rule: 'key:password', count: 1 },
    ])
  })

  it('does nothing without rules', () => {
    const redactor = new Redactor({ defaults: false, tag: String })
    expect(redactor.json('{"params":{"token":"x"}}')).toBeUndefined()
    expect(redactor.line('password=x', 'stderr')).toBeUndefined()
    expect(redactor.command(['--token', 'x'])).toEqual(['--token', 'x'])
    expect(redactor.name).toBe('none')
  })
})

describe("MCP's own handles", () => {
  it.each([
    `{"params":{"progressToken":"${jwt}","cursor":"${jwt}"}}`,
    `{"params":{"_meta":{"progressToken":"${jwt}"}},"x":"token"}`,
    `{"result":{"nextCursor":"${jwt}","_meta":{"progressToken":"${jwt}"}}}`,
    `[{"result":{"nextCursor":"${jwt}"}}]`,
    '{"params":{"progressToken":"token","_meta":{"progressToken":{"a":1}}}}',
  ])('survive in %s', (raw) => {
    expect(defaultRedactor().json(raw)).toBeUndefined()
  })

  it.each([
    `{"params":{"arguments":{"progressToken":"${jwt}"}}}`,
    `{"result":{"structuredContent":{"nextCursor":"${jwt}"}}}`,
    `{"params":{"arguments":{"_meta":{"progressToken":"${jwt}"}}}}`,
  ])('are not looked for elsewhere: %s', (raw) => {
    expect(redacted(raw)).toBe(raw.replace(jwt, '[REDACTED]'))
  })
})

describe('the state of a multi round-trip', () => {
  it('goes whole where the protocol has it, and equal ones have equal tags', () => {
    for (const raw of [
      '{"result":{"resultType":"input_required","requestState":"opaque"}}',
      '{"params":{"name":"book","request\\u0053tate":"opaque"}}',
      '[{"params":{"requestState":"opaque"}}]',
    ]) {
      const found = defaultRedactor().json(raw)
      expect(found?.raw).toBe(raw.replace('opaque', '[REDACTED]'))
      expect(found?.red).toEqual([{ at: expect.stringMatching(/\/requestState$/), tag: 'tag of opaque' }])
    }
  })

  it('is no secret elsewhere', () => {
    expect(defaultRedactor().json('{"params":{"arguments":{"requestState":"open"}}}')).toBeUndefined()
  })
})

describe('tool schemas', () => {
  const schema = {
    type: 'object',
    properties: {
      password: { type: 'string', description: 'The token', minLength: 8 },
      token: true,
      user: { type: 'object', properties: { api_key: { $ref: '#/$defs/secret' } } },
    },
    patternProperties: { secret: { type: 'string' } },
    required: ['password', 'token'],
    dependentRequired: { password: ['token'] },
    dependencies: { token: ['password'], secret: { required: ['token'] } },
    $defs: { secret: { anyOf: [{ properties: { pwd: {} } }] } },
  }

  it.each([
    ['a tool', { result: { tools: [{ name: 'login', inputSchema: schema, outputSchema: schema }] } }],
    ['sampling with tools', { params: { tools: [{ inputSchema: schema }] } }],
    ['elicitation', { params: { requestedSchema: schema } }],
    ['a nested request', { result: { inputRequests: { token: { params: { requestedSchema: schema } } } } }],
    ['nested requests in a list', { result: { inputRequests: [{ params: { requestedSchema: schema } }] } }],
  ])('of %s keep the names of properties', (_, message) => {
    expect(defaultRedactor().json(JSON.stringify(message))).toBeUndefined()
    expect(defaultRedactor().json(JSON.stringify([message]))).toBeUndefined()
  })

  it('of elicitation lose the values that they give for a secret property', () => {
    const property = { default: 'hunter2', const: 'b', enum: ['c'], examples: ['d'], minLength: 1 }
    const inner = { type: 'object', properties: { value: { default: 'e' } } }
    const requestedSchema = {
      properties: { password: property, token: inner, user: { default: 'u' }, pwd: 'x' },
    }
    const left = JSON.parse(redacted(JSON.stringify({ params: { requestedSchema } }))) as unknown
    const gone = '[REDACTED]'
    expect(left).toEqual({
      params: {
        requestedSchema: {
          properties: {
            password: { default: gone, const: gone, enum: gone, examples: gone, minLength: 1 },
            token: { type: 'object', properties: { value: { default: gone } } },
            user: { default: 'u' },
            pwd: gone,
          },
        },
      },
    })
  })

  it('of elicitation lose members of their default values', () => {
    const requestedSchema = { default: { password: 'x' }, properties: { a: { token: 'x' } } }
    expect(redacted(JSON.stringify({ params: { requestedSchema } }))).toBe(
      '{"params":{"requestedSchema":{"default":{"password":"[REDACTED]"},"properties":{"a":{"token":"[REDACTED]"}}}}}',
    )
  })

  it('and descriptions of tools stay as they are, but for tokens that their vendors made to be recognised', () => {
    const tool = {
      name: 'login',
      title: 'password: "hunter2-99"',
      description:
        'API_KEY=abc123def456 login --password hunter2, reads /srv/.env. Authorization: Basic dXNlcjpwYXNz',
      inputSchema: { properties: { password: { default: 'hunter2', examples: ['x1'] }, a: { token: 'x' } } },
      outputSchema: { default: { password: 'x' } },
      annotations: { title: 'Bearer abcdefgh' },
    }
    expect(defaultRedactor().json(JSON.stringify({ result: { tools: [tool] } }))).toBeUndefined()
    const leaking = { ...tool, inputSchema: { description: `try ${jwt}` } }
    expect(redacted(JSON.stringify({ result: { tools: [leaking] } }))).toBe(
      JSON.stringify({ result: { tools: [leaking] } }).replace(jwt, '[REDACTED]'),
    )
    const other = { result: { tools: [{ ...tool, token: 'abc' }] } }
    expect(redacted(JSON.stringify(other))).toBe(JSON.stringify(other).replace('"abc"', '"[REDACTED]"'))
  })

  it('are not looked for in the arguments of a call', () => {
    const raw = JSON.stringify({
      params: { arguments: { inputSchema: { properties: { password: { a: 'x' } } } } },
    })
    expect(redacted(raw)).toContain('"password":"[REDACTED]"')
  })
})

describe('deep nesting', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

  it('beyond 20,000 levels takes the member of the message whole', () => {
    const deep = nested(25_000)
    const found = defaultRedactor().json(`{"id":1,"params":{"a":${deep}},"x":[],"params":5,"result":${deep}}`)
    expect(found?.raw).toBe('{"id":1,"params":"[REDACTED]","x":[],"params":5,"result":"[REDACTED]"}')
    expect(found?.red.map(({ at }) => at)).toEqual(['/params', '/result'])
    expect(redacted(`[{"result":${deep}},{"id":2},${deep}]`)).toBe(
      '[{"result":"[REDACTED]"},{"id":2},"[REDACTED]"]',
    )
  })

  it('up to 20,000 levels is read to the bottom', () => {
    const raw = `{"params":${'{"a":'.repeat(19_990)}{"password":"x"}${'}'.repeat(19_990)}}`
    const found = defaultRedactor().json(raw)
    expect(found?.raw).toBe(raw.replace('"x"', '"[REDACTED]"'))
    expect(found?.red[0]?.at).toBe(`/params${'/a'.repeat(19_990)}/password`)
    expect(defaultRedactor().json(`{"params":${nested(19_999)}}`)).toBeUndefined()
  })
})
