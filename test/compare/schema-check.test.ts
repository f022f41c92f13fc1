import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { compareAnswers, plainSettings, type AnswerText } from '../../src/compare/index.js'
import { checkSchema } from '../../src/compare/schema-check.js'

describe('a schema that refers to itself', () => {
  it.each(['allOf', 'anyOf', 'oneOf'])('twice, in %s, is held against a value once', (keyword) => {
    const schema = { type: 'object', [keyword]: [{ $ref: '#' }, { $ref: '#' }] }
    expect(checkSchema(schema, {})).toEqual(
      keyword === 'oneOf' ? [{ at: '', problem: 'does not match exactly one of the oneOf schemas' }] : [],
    )
    expect(checkSchema(schema, 'x')).toEqual([{ at: '', problem: 'is a string, not object' }])
  })

  it('ends, where what it must not be is itself', () => {
    expect(checkSchema({ not: { not: { $ref: '#' } } }, 1)).toBeDefined()
  })

  it('takes trees, as deep as they are', () => {
    const inner = {
      type: 'object',
      properties: { left: { $ref: '#/$defs/tree' }, right: { $ref: '#/$defs/tree' } },
    }
    const either = { anyOf: [{ type: 'null' }, { allOf: [inner, inner] }, inner] }
    const schema = { $ref: '#/$defs/tree', $defs: { tree: either } }
    type Tree = { left: Tree } | number | null
    const deep = (leaf: number | null): Tree => {
      let tree: Tree = leaf
      for (let i = 0; i < 30; i += 1) tree = { left: tree }
      return tree
    }
    expect(checkSchema(schema, deep(null))).toEqual([])
    expect(checkSchema(schema, deep(1))).toEqual([{ at: '', problem: 'matches none of the anyOf schemas' }])
  })
})

describe('a schema and a value that are too much', () => {
  it('are given up, and that is said', () => {
    const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`m${i}`, {}]))
    const parts = Array.from({ length: 2_000 }, () => ({ properties }))
    const value = Object.fromEntries(Object.keys(properties).map((name) => [name, 1]))
    expect(checkSchema({ allOf: parts }, value)).toEqual([
      { at: '', problem: 'takes too long to check against the schema' },
    ])
  })
})

describe('a schema and a value that are nested too deep, or have too many patterns,', () => {
  const given = [{ at: '', problem: 'takes too long to check against the schema' }]
  it('are given up, and that is said', () => {
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
    expect(checkSchema({ const: deep }, JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)))).toEqual(given)
    expect(checkSchema({ uniqueItems: true }, deep)).toEqual(given)
    const names = Array.from({ length: 2_000 }, (_, i) => [`m${i}`, true] as const)
    const members = Object.fromEntries(names)
    expect(checkSchema({ patternProperties: members }, members)).toEqual(given)
  })
})

describe('what is not known', () => {
  it('fits, and tells no alternatives apart', () => {
    const kinds = ['a', 'b'].map((kind) => ({ properties: { kind: { const: kind } } }))
    const value = { kind: '[REDACTED]', token: '[REDACTED]', n: 'x' }
    const schema = { properties: { token: { type: 'string', minLength: 40 }, n: { type: 'number' } } }
    const unknown = new Set(['/kind', '/token'])
    expect(checkSchema({ ...schema, oneOf: kinds }, value, unknown)).toEqual([
      { at: '/n', problem: 'is a string, not number' },
    ])
    expect(checkSchema({ not: kinds[0]! }, value, unknown)).toEqual([])
    expect(checkSchema({ oneOf: [false, false] }, value, unknown)).toHaveLength(1)
    expect(checkSchema({ ...schema, oneOf: kinds }, value).map(({ at }) => at)).toEqual(['', '/token', '/n'])
  })

  it('is what redaction took out of a result', () => {
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [], structuredContent: { token: '[REDACTED]' } },
    })
    const token = JSON.stringify({ properties: { token: { type: 'string', minLength: 40 } } })
    const answer = { text, redacted: ['/result/structuredContent/token'] }
    const outputSchemas = { before: undefined, after: token }
    const settings = { ...plainSettings, level: 'schema' as const }
    const verdictOf = (side: AnswerText): string =>
      compareAnswers(side, side, { method: 'tools/call', outputSchemas }, settings).verdict
    expect(verdictOf(answer)).toBe('same')
    expect(verdictOf({ text })).toBe('changed')
  })
})

describe('keywords', () => {
  const draft7 = 'http://json-schema.org/draft-07/schema#'
  const values = [
    null,
    true,
    0,
    3,
    4.5,
    0.3,
    '',
    'ab',
    'x-1',
    [],
    [1],
    [1, 1],
    [1, 2],
    ['a', 2],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    {},
    { a: 1 },
    { a: 'x' },
    { a: 1, b: 2 },
    { 'x-1': 1 },
    { 'x-1': 'y', other: 1 },
    { a: { a: { a: 1 } } },
  ]

  it.each<[string, Record<string, unknown>]>([
    [
      'if, then and else',
      JSON.parse('{"if":{"type":"number"},"then":{"minimum":2},"else":{"type":"object"}}'),
    ],
    ['patternProperties', { patternProperties: { '^x-': { type: 'number' } }, additionalProperties: false }],
    [
      'properties and patterns',
      { properties: { a: { type: 'number' } }, patternProperties: { a: { minimum: 2 } } },
    ],
    ['propertyNames', { propertyNames: { maxLength: 1 } }],
    ['multipleOf', { multipleOf: 0.1 }],
    ['multipleOf a whole number', { multipleOf: 3 }],
    ['uniqueItems', { uniqueItems: true }],
    ['contains', { contains: { type: 'string' } }],
    ['a reference to the whole', { properties: { a: { $ref: '#' } }, maxProperties: 1 }],
    ['allOf, anyOf, oneOf, not', { anyOf: [{ type: 'array' }, { type: 'object' }], not: { maxItems: 0 } }],
  ])('of both drafts mean what they mean to others: %s', (_, schema) => {
    const older = { ...schema, $schema: draft7 }
    const isValid = new Ajv2020({ strict: false }).compile(schema)
    const wasValid = new Ajv({ strict: false }).compile(older)
    for (const value of values) {
      // 0.3 is a multiple of 0.1, although floating point disagrees.
      if (value === 0.3 || value === 4.5 || value === 3) continue
      expect([value, checkSchema(schema as never, value as never).length === 0]).toEqual([
        value,
        isValid(value),
      ])
      expect([value, checkSchema(older as never, value as never).length === 0]).toEqual([
        value,
        wasValid(value),
      ])
    }
  })

  it.each<[string, Record<string, unknown>]>([
    ['prefixItems', { prefixItems: [{ type: 'number' }], items: { type: 'string' } }],
    ['minContains and maxContains', { contains: { const: 1 }, minContains: 0, maxContains: 1 }],
    ['dependentRequired', { dependentRequired: { a: ['b'] } }],
    ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }],
    [
      '$anchor',
      { $defs: { n: { $anchor: 'number', type: 'number' } }, properties: { a: { $ref: '#number' } } },
    ],
    ['words beside $ref', { $defs: { n: { type: 'number' } }, $ref: '#/$defs/n', minimum: 2 }],
  ])('of 2020-12 mean what they mean to others: %s', (_, schema) => {
    const isValid = new Ajv2020({ strict: false }).compile(schema)
    for (const value of values)
      expect([value, checkSchema(schema as never, value as never).length === 0]).toEqual([
        value,
        isValid(value),
      ])
  })

  it.each<[string, Record<string, unknown>]>([
    ['a list of items', { items: [{ type: 'number' }], additionalItems: { type: 'string' } }],
    ['dependencies', { dependencies: { a: ['b'], 'x-1': { required: ['other'] } } }],
    [
      'definitions',
      { definitions: { 'a b': { type: 'number' } }, properties: { a: { $ref: '#/definitions/a%20b' } } },
    ],
  ])('of draft-07 mean what they mean to others: %s', (_, words) => {
    const schema = { ...words, $schema: draft7 }
    const isValid = new Ajv({ strict: false }).compile(schema)
    for (const value of values)
      expect([value, checkSchema(schema as never, value as never).length === 0]).toEqual([
        value,
        isValid(value),
      ])
  })

  it('beside a reference are not looked at in draft-07', () => {
    const schema = {
      $schema: draft7,
      definitions: { n: { type: 'number' } },
      $ref: '#/definitions/n',
      minimum: 2,
    }
    expect(checkSchema(schema, 0)).toEqual([])
    expect(checkSchema(schema, 'x')).toHaveLength(1)
  })

  it('count decimal fractions as people do', () => {
    expect(checkSchema({ multipleOf: 0.1 }, 0.3)).toEqual([])
    expect(checkSchema({ multipleOf: 0.1 }, 4.55)).toEqual([{ at: '', problem: 'is not a multiple of 0.1' }])
  })

  it('with a pattern that only a backtracking engine takes, or a reference to elsewhere, say nothing', () => {
    expect(
      checkSchema({ patternProperties: { '(a)\\1': false }, additionalProperties: false }, { aa: 1 }),
    ).toEqual([])
    expect(checkSchema({ $ref: 'https://evil.example/schema' }, 1)).toEqual([])
  })
})
