import { CompletionContext } from '@codemirror/autocomplete'
import { json } from '@codemirror/lang-json'
import { EditorState } from '@codemirror/state'
import { describe, expect, it } from 'vitest'
import { completeFrom } from '../../viewer/editor/complete.js'
import { faultsOf } from '../../viewer/editor/faults.js'

const schema = {
  type: 'object',
  required: ['city'],
  properties: {
    city: { type: 'string', description: 'where' },
    unit: { enum: ['metric', 'imperial'] },
    alerts: { type: 'boolean' },
    place: { $ref: '#/$defs/place' },
    days: { type: 'array', items: { enum: ['mon', 'tue'] } },
  },
  $defs: { place: { properties: { street: { type: 'string' }, again: { $ref: '#/$defs/place' } } } },
}

/** The proposals at `|`. */
function proposed(marked: string, at = ''): string[] {
  const pos = marked.indexOf('|')
  const state = EditorState.create({ doc: marked.replace('|', ''), extensions: [json()] })
  const result = completeFrom(schema, at)(new CompletionContext(state, pos, true))
  return (result?.options ?? []).map(({ label }) => label)
}

describe('completion of JSON from a schema', () => {
  it.each([
    ['{"|"}', ['"city"', '"unit"', '"alerts"', '"place"', '"days"']],
    ['{|}', ['"city"', '"unit"', '"alerts"', '"place"', '"days"']],
    ['{"city": "Graz", "|"}', ['"unit"', '"alerts"', '"place"', '"days"']],
    ['{"city": "Graz", |}', ['"unit"', '"alerts"', '"place"', '"days"']],
    ['{"unit": "|"}', ['"metric"', '"imperial"']],
    ['{"unit": |}', ['"metric"', '"imperial"']],
    ['{"alerts": t|}', ['true', 'false']],
    ['{"place": {"|"}}', ['"street"', '"again"']],
    ['{"place": {"again": {"again": {"|"}}}}', ['"street"', '"again"']],
    ['{"days": ["mon", "|"]}', ['"mon"', '"tue"']],
    ['{"city": |}', []],
  ])('%s', (marked, labels) => {
    expect(proposed(marked)).toEqual(labels)
  })

  it('looks at the part of the text that the schema is about', () => {
    const request = '{"method": "tools/call", "params": {"name": "x", "arguments": {"unit": "|"}}}'
    expect(proposed(request, '/params/arguments')).toEqual(['"metric"', '"imperial"'])
    expect(proposed('{"|"}', '/params/arguments')).toEqual([])
  })
})

describe('faults of JSON', () => {
  it('are marked where they are', () => {
    const text = '{"params": {"arguments": {"city": 5, "unit": "metric"}}}'
    const [fault, ...more] = faultsOf(text, schema, '/params/arguments')
    expect(more).toEqual([])
    expect(text.slice(fault!.from, fault!.to)).toBe('5')
    expect(fault!.words).toBe('city is a number, not string')
  })

  it('are told of a text that is no JSON, with its line', () => {
    expect(faultsOf('{\n  "a" 5}', schema, '')[0]!.words).toMatch(/^not JSON: .*line 2$/)
    expect(faultsOf('', schema, '').length).toBe(1)
  })
})
