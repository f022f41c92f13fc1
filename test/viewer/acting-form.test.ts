import { assert, constantFrom, dictionary, jsonValue, object, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createForm, type Form } from '../../viewer/acting/form.js'
import { isGroup, type Draft } from '../../viewer/acting/form-draft.js'
import type { Field } from '../../viewer/acting/form-shape.js'

const shop = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 5 },
    size: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], default: null, title: 'Size' },
    when: { type: 'string', format: 'date' },
    colour: { oneOf: [{ const: 'r', title: 'red' }, { const: 'g' }] },
    mode: { $ref: '#/$defs/mode' },
    tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
    at: {
      type: 'object',
      properties: { street: { type: 'string' }, number: { type: 'number' } },
      required: ['street'],
    },
    rows: { type: 'array', items: { $ref: '#/$defs/row' } },
    free: {},
  },
  required: ['name', 'tags'],
  $defs: {
    mode: { enum: ['fast', 'slow'], default: 'fast' },
    row: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
  },
}

function fields(form: Form): readonly Field[] {
  const { shape } = form.field
  return shape.kind === 'group' ? shape.fields : []
}

const words = constantFrom(
  'object',
  'array',
  'string',
  'number',
  'boolean',
  'null',
  '#',
  '#/properties/x',
  'x',
)
const keywords = constantFrom(
  'type',
  'properties',
  'items',
  'enum',
  'oneOf',
  'anyOf',
  'allOf',
  '$ref',
  'required',
  'default',
  'const',
  'x',
)

/** Writes into the fields of the outermost group. */
function write(form: Form, parts: Readonly<Record<string, Draft>>): void {
  const draft = form.draft.value
  if (!isGroup(draft)) throw new Error('no group')
  form.change({ ...draft, members: new Map([...draft.members, ...Object.entries(parts)]) })
}

describe('the form of a schema', () => {
  it('shows each value as what its schema says', () => {
    expect(fields(createForm(shop)).map(({ name, shape }) => `${name} ${shape.kind}`)).toEqual([
      'name text',
      'size number',
      'when text',
      'colour choice',
      'mode choice',
      'tags list',
      'at group',
      'rows list',
      'free json',
    ])
    const [name, size, , colour, mode] = fields(createForm(shop))
    expect(name!.hints).toBe('at least 2, at most 5 characters')
    expect([size!.title, size!.isNullable, size!.hints]).toEqual(['Size', true, 'at least 1 · default null'])
    expect(colour!.shape).toEqual({
      kind: 'choice',
      choices: [
        { json: '"r"', title: 'red' },
        { json: '"g"', title: 'g' },
      ],
    })
    expect(mode!.start).toBe('"fast"')
  })

  it('sends what is written, and nothing for an empty field', () => {
    const form = createForm(shop)
    write(form, {
      name: 'Ada',
      size: '',
      tags: { elements: ['a', 'b'] },
      at: {
        members: new Map<string, Draft>([
          ['street', ''],
          ['number', '1.50'],
        ]),
        others: [],
      },
    })
    const sent = '{"name":"Ada","mode":"fast","tags":["a","b"],"at":{"street":"","number":1.50}}'
    expect(form.read()).toBe(sent)
  })

  it('asks for a required text that nobody wrote, and sends one that was cleared', () => {
    const mail = { type: 'string', format: 'email' }
    const schema = { properties: { to: mail, text: { type: 'string' } }, required: ['to', 'text'] }
    const form = createForm(schema)
    expect(form.read()).toBeUndefined()
    expect(Object.fromEntries(form.faults.value)).toEqual({ '/to': 'is required', '/text': 'is required' })
    expect(form.read(true)).toBe('{}')
    write(form, { to: '', text: '' })
    expect(Object.fromEntries(form.faults.value)).toEqual({ '/to': 'is required' })
    expect(fields(form)[0]!.hints).toBe('an email address')
    write(form, { to: 'ada@example.com' })
    expect(form.read()).toBe('{"to":"ada@example.com","text":""}')
  })

  it('names a problem at its field, and again after each change', () => {
    const form = createForm(shop)
    write(form, { name: 'A', when: 'soon', size: '0', free: '{' })
    expect(form.read()).toBeUndefined()
    expect([...form.faults.value]).toEqual([['/free', expect.stringContaining('is not valid JSON')]])
    expect(form.canForce.value).toBe(false)
    write(form, { free: '', tags: { elements: [''] } })
    expect(Object.fromEntries(form.faults.value)).toEqual({
      '/name': 'has 1 character, expected at least 2',
      '/size': 'is too small',
      '/when': 'is not a date such as 2026-08-01',
    })
    expect(form.canForce.value).toBe(true)
    expect(form.read(true)).toBe('{"name":"A","size":0,"when":"soon","mode":"fast","tags":[""]}')
    write(form, { name: 'Ada', when: '2026-08-01', size: '1' })
    expect([...form.faults.value]).toEqual([])
    expect(form.read()).toBe('{"name":"Ada","size":1,"when":"2026-08-01","mode":"fast","tags":[""]}')
  })

  it('shows and sends a value exactly, with numbers and members that it cannot show', () => {
    const text =
      '{"name":"Ada","size":12345678901234567890,"tags":[],"at":{"street":"x","floor":1e400},"rows":[{"id":1}],"more":[1.0]}'
    const form = createForm(shop)
    form.fill(text)
    expect(form.read(true)).toBe(text)
    expect(isGroup(form.draft.value) && form.draft.value.others).toEqual(['"more":[1.0]'])
    form.toggle()
    form.changeJson('{"name":7}')
    form.toggle()
    expect(form.read(true)).toBe('{"name":7,"tags":[]}')
  })

  it('ends at a depth, of a schema that refers to itself', () => {
    const tree = {
      type: 'object',
      properties: { child: { $ref: '#' }, name: { type: 'string' } },
      required: ['child'],
    }
    let [child] = fields(createForm(tree))
    const kinds = []
    for (; child; child = child.shape.kind === 'group' ? child.shape.fields[0] : undefined)
      kinds.push(child.shape.kind)
    expect(kinds).toEqual(['group', 'group', 'group', 'json'])
    const loop = {
      properties: { x: { $ref: '#/$defs/a' } },
      $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
    }
    expect(fields(createForm(loop)).map(({ shape }) => shape.kind)).toEqual(['json'])
  })

  it('takes any schema and any value, and sends the value unchanged', () => {
    const schemas = object({ key: keywords, values: [words], maxDepth: 6 })
    const objects = dictionary(string(), jsonValue())
    assert(
      property(schemas, objects, (schema, value) => {
        const form = createForm(schema)
        form.read()
        form.fill(JSON.stringify(value))
        const sent = form.read(true)
        const required = new Set(
          fields(form)
            .filter((one) => one.required)
            .map(({ name }) => name),
        )
        const { ...left } = JSON.parse(sent ?? JSON.stringify(value)) as Record<string, unknown>
        for (const name of required) if (!Object.hasOwn(value, name)) delete left[name]
        expect(left).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})
