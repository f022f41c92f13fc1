import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createJsonPieces, type JsonPiece, type JsonPiecesOptions } from '../../src/wire/index.js'
import { runs } from '../long.js'
import { textsOf } from '../random-text.js'

const utf8 = new TextEncoder()
const options: JsonPiecesOptions = {
  opens: (path, kind) => path.length === 0 || (path.length === 1 && path[0] === 'list' && kind === 'array'),
  skips: ([name]) => name === 'skipped',
  resume: ([name]) => (name === 'list' ? { element: 'id', after: 'tail' } : undefined),
}

function piecesOf(
  input: string | Uint8Array,
  cuts: readonly number[] = [],
  more: Partial<JsonPiecesOptions> = {},
): JsonPiece[] {
  const bytes = typeof input === 'string' ? utf8.encode(input) : input
  const pieces = createJsonPieces({ ...options, ...more })
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  const found: JsonPiece[] = []
  for (let i = 1; i < at.length; i += 1) {
    // The chunk is used again by its owner.
    const chunk = bytes.slice(at[i - 1], at[i])
    found.push(...pieces.push(chunk))
    chunk.fill(0x21)
  }
  return [...found, ...pieces.end()]
}

/** `path text`, or `path ! fault: text`. */
const shown = (pieces: readonly JsonPiece[]): string[] =>
  pieces.map(
    ({ path, text, fault }) => `${path.join('.')} ${fault === undefined ? text : `! ${fault}: ${text}`}`,
  )

const each = Array.from({ length: 20_000 }, (_, i) => i + 1)

describe('a document', () => {
  it('comes value by value, with where they stand, in the order of the text', () => {
    const text =
      '{"a": 1e3 ,"list":[ {"id":1},\n "x", [ ] ,null],\n"skipped":[1],"b":{"c":[true]},"a":"again"}'
    expect(piecesOf(text)).toEqual([
      { path: ['a'], text: '1e3', line: 1 },
      { path: ['list', 0], text: '{"id":1}', line: 1 },
      { path: ['list', 1], text: '"x"', line: 2 },
      { path: ['list', 2], text: '[ ]', line: 2 },
      { path: ['list', 3], text: 'null', line: 2 },
      { path: ['b'], text: '{"c":[true]}', line: 3 },
      { path: ['a'], text: '"again"', line: 3 },
    ])
  })

  it.each(['12', ' "x" ', '[]', 'true\n', '{"a":{}}'])('%j may be a single value', (text) => {
    const whole = { opens: () => false }
    expect(shown(piecesOf(text, [], whole))).toEqual([` ${text.trim()}`])
    expect(piecesOf(text, each.slice(0, text.length), whole)).toEqual(piecesOf(text, [], whole))
  })

  it('may begin with a byte order mark, however that is cut', () => {
    const text = '\ufeff{"a":1}'
    for (let cut = 0; cut < 12; cut += 1) expect(shown(piecesOf(text, [cut, 1, 2]))).toEqual(['a 1'])
  })

  it('has names that are decoded, odd ones too', () => {
    const names = ['\\u0061', '', '__proto__', '\\ud800', '😀', '\\"']
    const text = `{${names.map((name) => `"${name}":1`).join(',')}}`
    expect(piecesOf(text).map(({ path }) => path[0])).toEqual(['a', '', '__proto__', '\ud800', '😀', '"'])
  })
})

describe('an error in a document that cannot be resumed', () => {
  it.each<[string, string[]]>([
    ['', [' ! the document is incomplete: ']],
    ['{"a":1', ['a ! the document is incomplete: 1']],
    ['{"a":tru', ['a ! the document is incomplete: tru']],
    ['{"a":1]', ['a 1', " ! expected ',' or '}': ]"]],
    ['{"a":[1}}', ["a ! expected ',' or ']': [1}"]],
    ['{"a":}', ['a ! expected a value: }']],
    ['{"a":1,}', ['a 1', ' ! expected a member name: }']],
    ['{a:1}', [' ! expected a member name: a']],
    ['{"a" 1}', ["a ! expected ':': 1"]],
    ['{"a":1} x', ['a 1', ' ! unexpected text after the value: x']],
    ['{"a":1}\n{', ['a 1', ' ! unexpected text after the value: a second document, which is ignored: {']],
    ['{"a":"x\ny","b":1}', ['a ! control character in a string: "x\n']],
    ['{"a":{"b":"c" "d"}}', ['a ! expected \',\' or \'}\': {"b":"c" "']],
    ['{"a":{"b" 1}}', ['a ! expected \':\': {"b" 1']],
    ['{"a":{1:1}}', ['a ! expected a member name: {1']],
    ['{"a":[1,]}', ['a ! expected a value: [1,]']],
  ])('%j is named with what stands there', (text, expected) => {
    expect(shown(piecesOf(text))).toEqual(expected)
    expect(piecesOf(text, each.slice(0, text.length))).toEqual(piecesOf(text))
  })

  it('is not kept: what follows takes no memory', () => {
    const pieces = createJsonPieces(options)
    pieces.push(utf8.encode('{"a":]'))
    const chunk = new Uint8Array(1 << 20).fill(0x20)
    for (let i = 0; i < 2000; i += 1) expect(pieces.push(chunk)).toEqual([])
    expect(pieces.end()).toEqual([])
  })
})

/** A document with one broken element in the middle. */
const around = (broken: string): string =>
  `{"list":[{"id":1},${broken},{"id":3,"x":[{"id":9}]}],"tail":{"y":2}}`
const indented = (broken: string): string =>
  `{\n  "list": [\n    {\n      "id": 1\n    },\n    ${broken},\n    {\n      "id": 3\n    }\n  ],\n  "tail": 2\n}`

const brokenElements = [
  '{"id":2',
  '{"id":2]}',
  '{"id":"2}',
  '{"id":"a "quoted" word"}',
  '{"id":2,"x":"C:\\"}',
  '{"id":2 "x":1}',
  '{"id":2,,"x":1}',
  '{"id":2,"x":}',
  '{"id":2,"x":[1,{"y":2]}',
  '{"id":2,"x":"tab\there"}',
  '{"id":2,x:1}',
  '{"id" 2}',
  '{2}',
  '}',
  ']',
  ':',
]

describe('a broken element', () => {
  it.each(brokenElements)('%s costs itself only', (broken) => {
    for (const text of [around(broken), indented(broken)]) {
      const pieces = piecesOf(text)
      const whole = pieces.filter(({ fault }) => fault === undefined)
      expect(whole.map(({ path }) => path.join('.'))).toEqual(['list.0', 'list.2', 'tail'])
      expect(JSON.parse(whole[1]!.text)).toMatchObject({ id: 3 })
      expect(pieces.filter(({ fault }) => fault !== undefined)).toMatchObject([{ path: ['list', 1] }])
      expect(piecesOf(text, each.slice(0, text.length))).toEqual(pieces)
    }
  })

  it.each(brokenElements)('%s as the last one hides nothing that follows the list', (broken) => {
    for (const text of [
      `{"list":[{"id":1},${broken}],"tail":{"y":[],"tail":1}}`,
      `{\n  "list": [\n    {"id":1},\n    ${broken}\n  ],\n  "tail": {"y":[],"tail":1}\n}`,
    ]) {
      const pieces = piecesOf(text)
      expect(shown(pieces.filter(({ fault }) => fault === undefined))).toEqual([
        'list.0 {"id":1}',
        'tail {"y":[],"tail":1}',
      ])
      expect(piecesOf(text, each.slice(0, text.length))).toEqual(pieces)
    }
  })

  it('of bytes that are no text costs itself only', () => {
    const bytes = utf8.encode(around('{"id":"@"}'))
    bytes[bytes.indexOf(0x40)] = 0xff
    expect(shown(piecesOf(bytes))).toEqual([
      'list.0 {"id":1}',
      'list.1 ! not valid UTF-8: {"id":"\ufffd"}',
      'list.2 {"id":3,"x":[{"id":9}]}',
      'tail {"y":2}',
    ])
  })

  it('is followed by one that begins as the first did', () => {
    const text = '{"list":[{"other":1},{"other":2]},{"other":3}]}'
    expect(shown(piecesOf(text))).toEqual([
      'list.0 {"other":1}',
      "list.1 ! expected ',' or '}': {\"other\":2]},",
      'list.2 {"other":3}',
    ])
  })

  it.each([
    ['a comma too many', '[{"id":1},,{"id":2}]'],
    ['a comma at the end', '[{"id":1},{"id":2},]'],
    ['a comma at the start', '[,{"id":1},{"id":2}]'],
    ['a comma too few', '[{"id":1} {"id":2}]'],
    ['a bracket too many', '[{"id":1}},{"id":2}]'],
    ['a bracket too many at the end', '[{"id":1},{"id":2}}]'],
  ])('%s is no element', (_what, list) => {
    const pieces = piecesOf(`{"list":${list},"tail":1}`)
    expect(shown(pieces.filter(({ fault }) => fault === undefined))).toEqual([
      'list.0 {"id":1}',
      'list.1 {"id":2}',
      'tail 1',
    ])
    expect(pieces.filter(({ fault }) => fault !== undefined)).toMatchObject([{ between: true }])
  })

  it('keeps its line and those of what follows', () => {
    expect(piecesOf(indented('{\n"id":\n]\n}')).map(({ line }) => line)).toEqual([3, 6, 10, 14])
  })

  it('of any length is held to 64 KiB, and the next one is found behind it', () => {
    const pieces = createJsonPieces(options)
    const found = pieces.push(utf8.encode('{"list":[{"id":2,"x":\u007d'))
    const chunk = utf8.encode('garbage "id": ] , '.repeat(10_000))
    for (let i = 0; i < 500; i += 1) found.push(...pieces.push(chunk))
    found.push(...pieces.push(utf8.encode('{"id":3}],"tail":1}')), ...pieces.end())
    expect(found.map(({ path }) => path.join('.'))).toEqual(['list.0', 'list.1', 'tail'])
    expect(found[0]!.text).toHaveLength(65_536)
  })
})

describe('a value beyond the longest', () => {
  const long = '{"list":[{"id":1},{"id":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},{"id":3}],"tail":1}'
  it('is a fault, however it is cut', () => {
    const whole = piecesOf(long, [], { maxBytes: 20 })
    expect(shown(whole).map((text) => text.slice(0, 24))).toEqual([
      'list.0 {"id":1}',
      'list.1 ! longer than 0 M',
      'list.2 {"id":3}',
      'tail 1',
    ])
    expect(piecesOf(long, each.slice(0, long.length), { maxBytes: 20 })).toEqual(whole)
  })
})

describe('any bytes', () => {
  const words = ['true', '    ', '"id"', '"tail"', '"list"', '{"id":', '{"list":[', '],"tail":']
  const texts = (maxLength: number): fc.Arbitrary<string> =>
    textsOf('{}[],:"\\1\n\té\u0001\ufeff', words, { maxLength })
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    texts(40).map((text) => utf8.encode(text)),
    texts(12).map((text) => utf8.encode(around(text))),
    texts(12).map((text) => utf8.encode(indented(text))),
  )

  it('give the same pieces however they are cut, in text order, with lines that exist', () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(), { maxLength: 12 }), (input, cuts) => {
        const whole = piecesOf(input)
        expect(piecesOf(input, cuts)).toEqual(whole)
        expect(piecesOf(input, each.slice(0, input.length))).toEqual(whole)
        const lines = whole.map(({ line }) => line)
        expect(lines).toEqual(lines.toSorted((a, b) => a - b))
        const feeds = input.filter((byte) => byte === 0x0a).length
        for (const line of lines) expect(line).toBeLessThanOrEqual(feeds + 1)
      }),
      { numRuns: runs(4000) },
    )
  })

  it('that are JSON give its members', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        fc.boolean(),
        (value, pretty) => {
          const text = JSON.stringify(value, null, pretty ? 2 : 0)
          const parsed = JSON.parse(text) as Record<string, unknown>
          const pieces = piecesOf(text, [7, 100], { opens: (path) => path.length === 0, skips: () => false })
          expect(pieces.map(({ path, text }) => [path[0], JSON.parse(text)])).toEqual(Object.entries(parsed))
        },
      ),
      { numRuns: runs(500) },
    )
  })
})
