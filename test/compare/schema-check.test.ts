import { describe, expect, it } from 'vitest'
import { compareAnswers, plainSettings, type AnswerText } from '../../src/compare/index.js'
import { checkSchema } from '../../src/compare/schema-check.js'

describe('a schema that refers to itself', () => {
  it.each(['allOf', 'anyOf', 'oneOf'])('twice, in %s, is held against a value once', (keyword) => {
    const schema = { type: 'object', [keyword]: [{ $ref: '#' }, { $ref: '#' }] }
    expect(checkSchema(schema, {})).toEqual(
      keyword === 'oneOf' ? [{ at: '', problem: 'does not fit exactly one of oneOf' }] : [],
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
    expect(checkSchema(schema, deep(1))).toEqual([{ at: '', problem: 'fits none of anyOf' }])
  })
})

describe('a schema and a value that are too much', () => {
  it('are given up, and that is said', () => {
    const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`m${i}`, {}]))
    const parts = Array.from({ length: 2_000 }, () => ({ properties }))
    const value = Object.fromEntries(Object.keys(properties).map((name) => [name, 1]))
    expect(checkSchema({ allOf: parts }, value)).toEqual([
      { at: '', problem: 'takes too long to be held against the schema' },
    ])
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
