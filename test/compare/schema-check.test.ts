import { describe, expect, it } from 'vitest'
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
