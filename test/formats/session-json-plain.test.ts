import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJson } from '../is-json.js'
import { isLong, runs } from '../long.js'
import { readSession, recordsOf, writeSession, type Reading } from './session-json-stage.js'

/** The same document in a layout that no program writes, so that it is read value by value. */
const otherwise = (file: string): string => file.replaceAll('\n', '\n ')

/** Changes of one entry. Some of them leave no session file, or no JSON. */
const changes: readonly [RegExp, readonly string[]][] = [
  [
    /"proxy_id": "[^"]*"/,
    ['"proxy_id": ""', '"proxy_id": " x"', '"proxy_id": "\\u0041"', '"proxy_id": "é"', '"proxy_id": 5'],
  ],
  [
    /"sequence": \d+/,
    ['"sequence": 0', '"sequence": 007', '"sequence": -1', '"sequence": 1e3', '"sequence": 9007199254740993'],
  ],
  [
    /"timestamp": "[^"]*"/,
    [
      '2026-08-01T10:00:00+00:00',
      '2026-08-01T10:00:00.000000+00:00',
      '2026-08-01T10:00:00.000001+00:00',
      '2026-08-01T10:00:00.5+00:00',
      '2026-08-01T10:00:00.1234567+00:00',
      '2026-08-01T10:00:00.123456-00:00',
      '2026-08-01T10:00:00.123456+01:00',
      '2026-08-01T10:00:00.123 56+00:00',
      '2026-08-01T10:00:00,123456+00:00',
      '2026-08-01t10:00:00.123456+00:00',
      '2026-02-30T10:00:00.123456+00:00',
      '2026-08-01T24:00:00.123456+00:00',
      '2026-08-01T10:00:60.123456+00:00',
      '1026-08-01T10:00:00.123456+00:00',
      '2026-08-01T10:00:00.123Z',
    ].map((time) => `"timestamp": "${time}"`),
  ],
  [
    /"direction": "[^"]*"/,
    ['"direction": "client_to_server"', '"direction": "server_to_client"', '"direction": "up"'],
  ],
  [
    /"transport": "[^"]*",\n {6}"j/,
    [
      '"transport": "sse",\n      "j',
      '"transport": "stdio",\n      "j',
      '"transport": "stdio\\u0020",\n      "j',
    ],
  ],
  [
    /"jsonrpc_id": [^\n]*/,
    ['null', '1', '01', '-1', '1.0', '"1"', '"\\u0041"', 'true'].map((id) => `"jsonrpc_id": ${id},`),
  ],
  [
    /"method": (null|"[^"]*"),\n {6}"c/,
    ['null', '"a/b"', '"é"', '"a\\/b"', 'nul'].map((name) => `"method": ${name},\n      "c`),
  ],
  [/"correlated_id": [^\n]*/, ['null', '"a"', '"\\n"', '7', 'nullx'].map((id) => `"correlated_id": ${id},`)],
  [
    /"modified": (true|false)/,
    ['"modified": true', '"modified": false', '"modified": 0', '"modified": false, "x": 1'],
  ],
  [
    /"jsonrpc": "2.0"/,
    ['"jsonrpc": "1.0"', '"jsonrpc": 2.0', '"jsonrpc":\r"2.0"', '"x": [1,\t2]', '"jsonrpc": "2.0", "n": 01'],
  ],
  [/\n {4}\}/, [',\n      "dropped": true\n    }', ',\n      "more": {}\n    }', ' }', '\n\n    }', '}']],
]

const change = fc
  .constantFrom(...changes)
  .chain(([what, others]) => fc.tuple(fc.constant(what), fc.constantFrom(...others), fc.nat(3)))

/** Changes the n-th place where it can. */
function changed(file: string, [what, other, at]: readonly [RegExp, string, number]): string {
  let count = 0
  return file.replaceAll(new RegExp(what, 'g'), (found) => (count++ === at ? other : found))
}

/** The lines; what keeps the text of an entry that is no message has the white space of the file. */
function tight({ lines }: Reading): string[] {
  return lines.map((line) =>
    line.startsWith('{"type":"session-entry"') ? line.replaceAll(/\\n *|\s/g, '') : line,
  )
}

const meta =
  '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":["x"],"wiretape":{"version":"0.1.0","session":"s","transport":"stdio","url":null,"segment":0,"redaction":"none","metadata":{}}}'

/** Lines of a recorder for messages without further facts; some lines of stderr. */
const beside = fc.constantFrom(
  '',
  '',
  ',"conv":"c1"',
  ',"conv":"c1","http":{"exchange":7,"status":200,"headers":[["A","b"]]},"sse":{"event":"message","id":"5"}',
  ',"late":true,"linked":[{"kind":"progress","to":"p-0"}]',
  ',"linked":[{"kind":"strange","to":"p-0"}]',
  ',"dup":"p-0","rule":"r","red":[{"at":"/params/x","tag":"t"}],"eol":"crlf"',
  ',"red":[{"at":5}],"eol":"strange"',
  ',"conv":5',
  ',"heldMs":812,"more":{"x":[1]}',
  ',"modified":true,"original":{"jsonrpc":"2.0","method":"m"}',
  ',"bytes":"AAAA"',
)
const plainTape = fc
  .array(
    fc.tuple(
      fc.json({ maxDepth: 3 }),
      fc.constantFrom('id', '"s"', 'none', 'answer', 'stderr'),
      fc.nat(2_500_000),
      beside,
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((messages) => {
    const lines = messages.map(([value, kind, us, more], i) => {
      const t = new Date(Date.parse('2026-08-01T10:00:00.000Z') + Math.floor(us / 1000)).toISOString()
      if (kind === 'stderr') return `{"type":"stderr","t":"${t}","us":${us},"text":${JSON.stringify(value)}}`
      const id = kind === 'none' ? '' : `"id":${kind === '"s"' ? kind : i},`
      const what = kind === 'answer' ? `"result":{"x":${value}}` : `"method":"a/b","params":{"x":${value}}`
      const corr = kind === 'answer' ? ',"corr":"p-0"' : ''
      return `{"t":"${t}","dir":"${i % 2 === 0 ? 'in' : 'out'}","raw":{"jsonrpc":"2.0",${id}${what}},"id":"p-${i}","seq":${i},"us":${us}${corr}${more}}`
    })
    return recordsOf([meta, ...lines])
  })

describe('an entry that is laid out as everybody does it', () => {
  it('is read as any other, whatever it says', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(
        plainTape,
        fc.array(change, { maxLength: 3 }),
        fc.array(fc.nat(), { maxLength: 4 }),
        fc.boolean(),
        async (tape, edits, cuts, compact) => {
          const file = edits.reduce(changed, await writeSession(tape, compact))
          if (!isJson(file)) return
          compared += 1
          const quick = await readSession(file, cuts)
          const slow = await readSession(otherwise(file))
          expect(tight(quick)).toEqual(tight(slow))
          expect(quick.problems).toEqual(slow.problems)
        },
      ),
      { numRuns: runs(2_000) },
    )
    expect(compared).toBeGreaterThan(runs(2_000) / 3)
  })

  it('is read as any other where chunks end inside of it', async () => {
    const lines = Array.from(
      { length: 2 },
      (_, i) =>
        `{"t":"2026-08-01T10:00:00.00${i}Z","dir":"in","raw":{"jsonrpc":"2.0","id":${i},"method":"m","params":{"a":[1,{"é":"\\"😀\\u00e9"}],"b":{}}},"id":"a-${i}","seq":${i},"us":${i * 1000}}`,
    )
    const file = await writeSession(recordsOf([meta, ...lines]))
    const whole = await readSession(file)
    expect(whole.lines).toEqual([meta, ...lines])
    const size = Buffer.byteLength(file)
    for (let cut = 1; cut < size; cut += isLong ? 1 : 5)
      expect((await readSession(file, [cut])).lines).toEqual(whole.lines)
    const everywhere = Array.from({ length: size }, (_, i) => i)
    expect((await readSession(file, everywhere)).lines).toEqual(whole.lines)
  })

  it('is read as any other where the file breaks off inside of it', async () => {
    const line = (i: number): string =>
      `{"t":"2026-08-01T10:00:00.00${i}Z","dir":"in","raw":{"jsonrpc":"2.0","id":${i},"method":"m"}}`
    const file = await writeSession(
      recordsOf([
        '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":["x"]}',
        line(1),
        line(2),
      ]),
    )
    for (let end = file.indexOf('"messages"'); end < file.length; end += isLong ? 1 : 4) {
      const quick = await readSession(file.slice(0, end))
      const slow = await readSession(otherwise(file.slice(0, end)))
      expect(tight(quick)).toEqual(tight(slow))
      expect(quick.problems).toEqual(slow.problems)
    }
  })
})
