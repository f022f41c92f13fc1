import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addMember, compilePath, removeValues } from '../../src/json-path/index.js'
import { spliceText } from '../../src/wire/index.js'

const whole = (text: string): { start: number; end: number } => ({ start: 0, end: text.length })

function found(path: string, text: string): string[] {
  return compilePath(path)
    .find(text, whole(text))
    .map(({ start, end }) => text.slice(start, end))
}

describe('a path to one place', () => {
  it('leads where the same path leads that is followed through a tree', () => {
    const step = fc.constantFrom(`'a'`, `'b'`, '0', '1', '-1', '-2')
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.array(step, { maxLength: 4 }), (json, steps) => {
        const text = json.replaceAll(/"[^"]{0,3}":/g, '"a" : ')
        const once = steps.map((selector) => `[${selector}]`).join('')
        const twice = steps.map((selector) => `[${selector},${selector}]`).join('')
        expect(compilePath(`$${once}`).steps).toHaveLength(steps.length)
        expect(found(`$${once}`, text)).toEqual(found(`$${twice}`, text))
      }),
    )
  })

  it('selects every duplicate of a member', () => {
    expect(found('$.a.b', '{"a":{"b":1},"a":{"b":2,"b":3}}')).toEqual(['1', '2', '3'])
  })

  it('may add what it names last, where there is one object for it', () => {
    const add = (text: string, path: string): string | undefined => {
      const edit = addMember(text, whole(text), compilePath(path), '1')
      return edit && spliceText(text, [edit])
    }
    expect(add('{"a":{ }}', '$.a.b')).toBe('{"a":{"b":1 }}')
    expect(add('{"a":{"c":0 }}', '$.a.b')).toBe('{"a":{"c":0,"b":1 }}')
    expect(add('{"a":[]}', '$.a.b')).toBeUndefined()
    expect(add('{"a":{},"a":{}}', '$.a.b')).toBeUndefined()
    expect(add('{}', '$.a.b')).toBeUndefined()
    expect(add('{}', '$.*')).toBeUndefined()
  })
})

describe('removeValues', () => {
  it('leaves what JSON.parse has without them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.json({ maxDepth: 1 }), { maxLength: 6 }),
        fc.array(fc.boolean()),
        (items, gone) => {
          const text = `[ ${items.join(' , ')} ]`
          const values = compilePath('$[*]').find(text, whole(text))
          const edits = removeValues(
            text,
            whole(text),
            values.filter((_, i) => gone[i]),
          )
          const kept = items.filter((_, i) => !gone[i]).map((item): unknown => JSON.parse(item))
          expect(JSON.parse(spliceText(text, edits ?? []))).toEqual(kept)
        },
      ),
    )
  })
})
