import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MessageLineEncoder, type MessageLine } from '../../src/formats/index.js'
import { MessageIds } from '../../src/model/index.js'
import { bytesHaveTrigger, triggers } from '../../src/redaction/trigger.js'
import { heldOutSecrets } from '../redaction/corpus/held-out.js'
import { secrets } from '../redaction/corpus/secrets.js'
import { defaultRedactor } from '../redaction/redacting.js'
import { createMessageMemory, nowhere, PlainMessage } from '../../src/wire/index.js'
import { messageModule } from '../message-module.js'

const longest = 64 * 1024
let text: Uint8Array<ArrayBuffer>
let target: Uint8Array<ArrayBuffer>

beforeEach(() => {
  const memory = createMessageMemory(messageModule)!
  text = memory.take(longest)!
  target = memory.take(2 * longest)!
})

afterEach(() => {
  createMessageMemory(undefined)
})

/** Puts a line behind other bytes. Returns the index of its first byte and the one after its line feed. */
function place(line: string | Uint8Array, before: string): { start: number; end: number } {
  const bytes = Buffer.concat([Buffer.from(`${before}\n`), Buffer.from(line), Buffer.from('\n{"a":"b')])
  text.fill(0x41)
  text.set(bytes)
  const start = Buffer.byteLength(before) + 1
  return { start, end: start + Buffer.byteLength(line) + 1 }
}

function checkRead(line: string | Uint8Array, before = ''): boolean {
  const { start, end } = place(line, before)
  const [one, two] = [new PlainMessage(), new PlainMessage()]
  // Elsewhere: in the memory, values are skipped by the module too.
  const read = one.read(Uint8Array.from(text), start)
  expect(two.read(text, start, text.byteOffset)).toBe(read)
  if (read < 0) return false
  expect(two).toEqual(one)
  expect(read).toBe(end)
  const has = bytesHaveTrigger(text, start, end - 1)
  // A text before the message may make the search more careful, never less.
  const hasInMemory = bytesHaveTrigger(text, start, end - 1, text.byteOffset)
  expect(hasInMemory || !has).toBe(true)
  if (before === '') expect(hasInMemory).toBe(has)
  return true
}

const word = fc.oneof(
  fc.constantFrom(
    'a',
    'name',
    'uri',
    'id',
    '_meta',
    'ref',
    'taskId',
    'requestState',
    'isError',
    'résumé',
    '日本',
  ),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom(...triggers.map(({ literal }) => literal)),
)
const value = fc.oneof(
  { weight: 4, arbitrary: word },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('complete', false, true, null, 0, -1, 1e21, 1.5e-7, 'x'.repeat(300)),
  },
)
const inside = fc.dictionary(word, value, { maxKeys: 5 })
const id = fc.oneof(fc.nat(), fc.constantFrom('a', 'é', '', -1, 1.5, null, 1e15, 123_456_789_012_345), word)
const message = fc.oneof(
  fc.record(
    { jsonrpc: fc.constant('2.0'), id, method: word, params: inside },
    { requiredKeys: ['jsonrpc', 'method'] },
  ),
  fc.record({ jsonrpc: fc.constant('2.0'), id, result: inside }),
  fc.record({ jsonrpc: fc.constant('2.0'), id, error: inside, result: value }, { requiredKeys: ['id'] }),
  fc.record({
    method: fc.constantFrom('subscriptions/listen', 'tools/call'),
    jsonrpc: fc.constantFrom('2.0', '1.0'),
    id,
    params: fc.record({ name: word, uri: word, arguments: inside }, { requiredKeys: [] }),
  }),
)

describe('the module', () => {
  it.each([0, 8, 42, messageModule.length - 1])(
    'is not used when only %d bytes of it are there',
    (length) => {
      expect(createMessageMemory(messageModule.subarray(0, length))).toBeUndefined()
    },
  )
})

describe('a message in the memory of WebAssembly', () => {
  it('is read as elsewhere, whatever stands before it', () => {
    let plain = 0
    fc.assert(
      fc.property(message, fc.constantFrom(undefined, 1, '\t'), word, (given, indent, before) => {
        const line = JSON.stringify(given, null, indent).replaceAll('\n', ' ')
        if (checkRead(line) && checkRead(line, before.replaceAll('\n', ''))) plain += 1
      }),
      { numRuns: 3_000 },
    )
    expect(plain).toBeGreaterThan(200)
  })

  it('is refused as elsewhere when some of its bytes are changed', () => {
    const bytes = fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('{}[]",:\\ \t-+.eE019udD\u00e9')))
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(2), bytes), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(message, changes, (given, all) => {
        const line = [...Buffer.from(JSON.stringify(given))]
        for (const [at, removed, byte] of all) line.splice(at % line.length, removed, byte)
        // A line has no line feed.
        checkRead(Uint8Array.from(line.filter((byte) => byte !== 0x0a)))
      }),
      { numRuns: 6_000 },
    )
  })

  it.each([
    ['of the deepest allowed nesting', 199],
    ['that is nested too deep', 200],
  ])('%s is read as elsewhere', (_, depth) => {
    const list = '['.repeat(depth) + ']'.repeat(depth)
    checkRead(`{"jsonrpc":"2.0","id":1,"result":{"a":${list}}}`)
  })

  it('is searched for every literal of the rules', () => {
    let found = 0
    for (const [n, { literal, before, after }] of triggers.entries()) {
      const token = `${before?.[0] ?? ''}${literal}${after?.[0] ?? ''}${'a1B2c3D4e5'.repeat(5)}`
      const params = { text: `${'x'.repeat(n % 37)} ${token} ${'y'.repeat(n % 11)}` }
      const line = JSON.stringify({ jsonrpc: '2.0', id: n, method: 'm', params })
      if (!checkRead(line)) continue
      const { start, end } = place(line, '')
      if (bytesHaveTrigger(text, start, end - 1, text.byteOffset)) found += 1
    }
    expect(found).toBeGreaterThan(triggers.length / 2)
  })

  it.each([0, 7, 1_000, 9_000])('is never called clean with a secret behind %d characters', (length) => {
    const redactor = defaultRedactor()
    const before = 'Some words, 17 numbers and "marks": a/b. '.repeat(1_000).slice(0, length)
    let found = 0
    for (const planted of [...secrets, ...heldOutSecrets]) {
      const line = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: `${before}${planted.text}` } })
      if (!redactor.json(line)) continue
      const { start, end } = place(line, '')
      expect([planted.text, redactor.isClean(text, start, end - 1, text.byteOffset)]).toEqual([
        planted.text,
        false,
      ])
      found += 1
    }
    expect(found).toBeGreaterThan(300)
  })

  it('gets the same line', () => {
    const place32 = fc.nat(2 ** 32 - 1)
    const count = fc.oneof(
      fc.nat(20),
      fc.nat(2 ** 31),
      fc.maxSafeNat().map((n) => n % 1e15),
    )
    const key = fc.uint32Array({ minLength: 4, maxLength: 4 })
    const times = fc.constantFrom('2026-01-02T03:04:05.678Z', '+010000-01-02T03:04:05.678Z')
    const encoders = [new MessageLineEncoder(), new MessageLineEncoder()] as const
    fc.assert(
      fc.property(
        place32,
        fc.option(place32, { nil: undefined }),
        count,
        count,
        key,
        times,
        (id, answers, seq, us, words, t) => {
          const { start, end } = place(`{"a":"${t}"}`, 'b')
          const around = {
            late: false,
            duplicateOf: undefined,
            bytes: text,
            start,
            end: end - 1,
            address: nowhere,
          }
          const line: MessageLine = { t, direction: 'server_to_client', us, seq, id, answers, ...around }
          const ids = new MessageIds(words)
          const expected = new Uint8Array(500)
          const length = encoders[0].write(line, ids, expected, 3)
          line.address = text.byteOffset
          expect(encoders[1].write(line, ids, target, 3, target.byteOffset)).toBe(length)
          expect(Buffer.from(target.subarray(3, length)).toString()).toBe(
            Buffer.from(expected.subarray(3, length)).toString(),
          )
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
