import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../long.js'
import { readSession, recordsOf, writeSession, type Loose } from './session-json-stage.js'
import { ownTape, plainMessage } from './session-json-tapes.js'
import type { TapeRecord } from '../../src/model/index.js'

const [meta] = recordsOf([
  '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":["x"]}',
])

const rawsOf = (records: readonly TapeRecord[]): string[] =>
  records.flatMap((record) => (record.type === 'message' ? [record.raw] : []))

/** Text of the file for the payload of its only message. */
async function payloadOf(raw: string, compact = false): Promise<string> {
  const text = await writeSession([meta!, plainMessage(raw)], compact)
  expect(rawsOf((await readSession(text)).records)).toEqual([raw])
  const found = /"payload": (.*)\n    \}\n  \],\n/s.exec(text)
  return found?.[1] ?? ''
}

/** JSON text with white space of one kind, or none, between its tokens. */
const spacing = fc.constantFrom('', '', ' ', '\t', '\r')
const text = fc
  .tuple(
    fc.json({ maxDepth: 5 }),
    fc.array(spacing, { minLength: 1, maxLength: 3 }),
    fc.constantFrom(
      '',
      ',"n":1.0',
      ',"n":1E400',
      ',"n":-0',
      ',"a":"\\/","a":"\\u00e9\\\\"',
      ',"2":0,"1":[[],{}]',
    ),
  )
  .map(([value, spaces, odd]) => {
    let count = 0
    const space = (): string => spaces[count++ % spaces.length]!
    const json = `{"jsonrpc":"2.0","id":1,"result":{"value":${value}${odd}}}`
    return json.replaceAll(
      /("(?:[^"\\]|\\.)*")|([[\]{},:])/g,
      (token, _: unknown, mark: string | undefined, at: number) =>
        // Around a whole message there is none.
        mark === undefined || at === 0 || at === json.length - 1 ? token : space() + token + space(),
    )
  })

describe('a payload in a session file', () => {
  it('is indented as the reference writes it, token by token', async () => {
    const raw = '{"jsonrpc":"2.0","id":1,"result":{"a":[],"b":{},"c":[1.0,1e3,{"d":"\\u00e9\\/"}],"c":null}}'
    expect(await payloadOf(raw)).toBe(`{
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
          "a": [],
          "b": {},
          "c": [
            1.0,
            1e3,
            {
              "d": "\\u00e9\\/"
            }
          ],
          "c": null
        }
      }`)
    expect(await payloadOf(raw, true)).toBe(raw)
  })

  it.each([
    '{"jsonrpc": "2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":1,"result":{ }}',
    '{"jsonrpc":"2.0","id":1,"result":{"a":[1,2 ]}}',
    '{ "jsonrpc":"2.0","id":1,"result":{}}',
  ])('stays on its line where there is white space between its tokens: %s', async (raw) => {
    expect(await payloadOf(raw)).toBe(raw)
  })

  it('comes back character by character, and is JSON for others, whatever white space it has', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (raws, compact) => {
          const file = await writeSession([meta!, ...raws.map((raw) => plainMessage(raw))], compact)
          const { records, problems } = await readSession(file)
          expect(rawsOf(records)).toEqual(raws)
          expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
          const { messages } = JSON.parse(file) as { messages: { payload: Loose }[] }
          expect(messages.map(({ payload }) => payload)).toEqual(raws.map((raw) => JSON.parse(raw)))
        },
      ),
      { numRuns: runs(300) },
    )
  })

  it('has the same content on one line', async () => {
    await fc.assert(
      fc.asyncProperty(ownTape, async (tape) => {
        const [indented, compact] = [await writeSession(tape), await writeSession(tape, true)]
        expect((await readSession(compact)).lines).toEqual((await readSession(indented)).lines)
        expect(JSON.parse(compact)).toEqual(JSON.parse(indented))
      }),
      { numRuns: runs(100) },
    )
  })

  it('of every length is laid out in the same way', async () => {
    for (const length of [0, 60, 70, 20_000, 87_000, 88_000, 300_000, 2_000_000]) {
      const value = {
        jsonrpc: '2.0',
        id: 1,
        result: { text: `é\\"${'\\'.repeat(9)}${'x'.repeat(length)}`, more: [1] },
      }
      const expected = JSON.stringify(value, null, 2).replaceAll('\n', '\n      ')
      expect((await payloadOf(JSON.stringify(value))) === expected).toBe(true)
    }
    const value = {
      jsonrpc: '2.0',
      id: 1,
      result: { rows: Array.from({ length: 60_000 }, () => [{ a: 1 }]) },
    }
    const expected = JSON.stringify(value, null, 2).replaceAll('\n', '\n      ')
    expect((await payloadOf(JSON.stringify(value))) === expected).toBe(true)
  })

  it('stays on its line where indenting would make it very long', async () => {
    const deep = `${'['.repeat(150)}${'1,'.repeat(300_000)}1${']'.repeat(150)}`
    const raw = `{"jsonrpc":"2.0","id":1,"result":{"x":${deep}}}`
    expect((await payloadOf(raw)) === raw).toBe(true)
  })
})
