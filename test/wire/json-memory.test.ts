import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMessageMemory, skipAny, unusualValues } from '../../src/wire/index.js'
import type { MessageMemory } from '../../src/wire/message-memory.js'
import { hardValues } from '../formats/hard-values.js'
import { runs } from '../long.js'
import { messageModule } from '../message-module.js'

const utf8 = new TextEncoder()
const offset = 5
let memory: MessageMemory
let room: Uint8Array

/** Index after the value in the memory and elsewhere, and whether such a value counts as unusual. */
function skippedIn(bytes: Uint8Array): readonly [number, boolean] {
  const before = unusualValues.count
  const end = skipAny(bytes, offset)
  return [end, end >= 0 && unusualValues.count !== before]
}

function expectSame(text: string): void {
  const bytes = utf8.encode(`${' '.repeat(offset)}${text}\n`)
  room.set(bytes)
  expect(skippedIn(room.subarray(0, bytes.length))).toEqual(skippedIn(bytes))
}

const fragments = [
  ['{', '}', '[', ']', ',', ':', '"', '"a"', '"a":', ' ', '\t', '0', '12', '-', '.5', '1e', '+', '1E-9'],
  [
    'true',
    'false',
    'null',
    'tru',
    'nulL',
    '\\',
    '\\n',
    '\\u00e9',
    '\\u00g9',
    '\\ud83d',
    '"\\u12aF"',
    '"\\x"',
  ],
  ['é', '∀', '"🎞"', '\u0001', '\u007f', 'x'.repeat(40), `"${'y'.repeat(70)}"`, '[[', ']]', '{"b":', '{}'],
  ['9'.repeat(1_001), '9'.repeat(4_000)],
].flat()
const pieces = fc.constantFrom(...fragments)

describe('JSON in the memory of WebAssembly', () => {
  beforeAll(() => {
    memory = createMessageMemory(messageModule)!
    memory.call.useUtf8(true)
    room = memory.take(1 << 17)!
  })
  afterAll(() => void createMessageMemory(undefined))

  it('ends at the same byte as elsewhere', () => {
    for (const value of hardValues) expectSame(value)
    for (const depth of [180, 181, 200, 201])
      expectSame(`${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`)
    fc.assert(fc.property(fc.json({ depthSize: 'large' }), expectSame), { numRuns: runs(300) })
  })

  it('is skipped there', () => {
    const text = ' \t[{"a" :"b\\n\\u00e9 é", "c":[-1.5e+3, true,false,null ,{ },[]]} ] '
    room.set(utf8.encode(text))
    expect(memory.call.skip(room.byteOffset + 2)).toBe(room.byteOffset + utf8.encode(text).length - 1)
  })

  it('is refused where it is refused elsewhere', () => {
    const broken = fc.tuple(fc.json(), fc.nat(1_000), pieces, fc.boolean()).map(([json, at, piece, cuts]) => {
      const start = at % (json.length + 1)
      return json.slice(0, start) + piece + json.slice(cuts ? start + 1 : start)
    })
    const any = fc.array(pieces, { maxLength: 12 }).map((all) => all.join(''))
    fc.assert(fc.property(fc.oneof(broken, any), expectSame), { numRuns: runs(1_000) })
  })
})
