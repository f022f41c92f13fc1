import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { detectFormat, sessionJson } from '../../src/formats/index.js'
import type { Diagnostic, TapeRecord } from '../../src/model/index.js'
import { heldBytes } from '../model/heap.js'
import { sharedFixture } from '../shared-fixtures.js'
import { complaintsAbout } from './session-json-reference.js'
import {
  type Loose,
  messagesIn,
  readSession,
  goldenFiles,
  recordsOf,
  toBytes,
  writeSession,
} from './session-json-stage.js'
import { foreignTape, linesOf, ownTape, plainMessage } from './session-json-tapes.js'
import { isLong, runs } from '../long.js'

const { fixture, tapeOf } = goldenFiles('session-json')

/** Direction and exact text of every message, in order. */
const spoken = (records: readonly TapeRecord[]): string[] =>
  records.flatMap((record) => (record.type === 'message' ? [`${record.direction} ${record.raw}`] : []))

describe('golden files', () => {
  it.each(['every-kind', 'plain', 'empty'])(
    'the tape %s makes this file, and this file that tape',
    async (name) => {
      const text = await writeSession(tapeOf(`${name}.jsonl`))
      expect(text).toBe(fixture(`${name}.json`))
      expect(complaintsAbout(text)).toEqual([])
      const { lines } = await readSession(text)
      // Facts that another recorder's tape did not have are added.
      if (name !== 'plain') expect(lines.join('\n')).toBe(fixture(`${name}.jsonl`).trimEnd())
      expect(spoken(recordsOf(lines))).toEqual(spoken(tapeOf(`${name}.jsonl`)))
    },
  )

  it('the example of the documentation is read and written member by member', async () => {
    const text = fixture('documented.json')
    const { records, problems } = await readSession(text)
    expect(problems).toEqual([])
    expect(detectFormat(toBytes(text))).toBe(sessionJson)
    const written = await writeSession(records)
    expect(written).toBe(text)
    expect(records).toMatchObject([
      { type: 'meta', command: ['python', '-m', 'my_server'] },
      { type: 'message', seq: 0, us: 1_000_000, parts: [{ id: 'msg-001' }] },
      { type: 'message', seq: 1, us: 2_000_000, parts: [{ id: 'msg-002', correlatedId: 'msg-001' }] },
      { type: 'end', t: '2026-03-04T10:05:30.000Z' },
    ])
  })
})

describe('what a file is', () => {
  it('is told by its content, in any order of members', () => {
    const sorted = JSON.stringify(JSON.parse(fixture('every-kind.json')), (_, value: Loose) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value as object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    )
    expect(detectFormat(toBytes(sorted))).toBe(sessionJson)
    for (const name of ['documented', 'every-kind', 'plain', 'empty']) {
      expect(detectFormat(toBytes(`\ufeff${fixture(`${name}.json`)}`))).toBe(sessionJson)
      expect(detectFormat(toBytes(fixture(`${name}.json`).slice(0, 300)))).toBe(sessionJson)
    }
  })

  it('is a tape when a line of it has a session file in its message', () => {
    const file = JSON.stringify(JSON.parse(fixture('documented.json')))
    const line = `{"t":"2026-08-01T10:00:00.000Z","dir":"in","raw":${file}}\n`
    expect(detectFormat(toBytes(line))).not.toBe(sessionJson)
  })

  it('with the members of every object sorted gives the same records', async () => {
    const file = JSON.parse(fixture('every-kind.json'))
    const keys = (value: Loose): Loose =>
      Array.isArray(value)
        ? value.map(keys)
        : Object.fromEntries(Object.entries(value as object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const sorted = JSON.stringify(keys({ ...file, messages: keys(file.messages) }), null, 4)
    const { records, problems } = await readSession(sorted)
    expect(problems).toEqual([])
    const plain = await readSession(JSON.stringify(file))
    expect(linesOf(records)).toEqual(plain.lines)
  })
})

describe('the tape of a session file', () => {
  const schema = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../docs/tape-format.schema.json'), 'utf8'),
  ) as object
  const isLine = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(schema)

  it.each(['documented.json', 'every-kind.json', 'plain.json', 'empty.json'])(
    'of %s is one of ours',
    async (name) => {
      const changed = fixture(name)
        .replaceAll(':00Z"', ':00.123456Z"')
        .replace('"method": null,', '"method": null, "x": {},')
      for (const text of [fixture(name), changed, changed.replace('"payload"', '"pay_load"')]) {
        for (const line of (await readSession(text)).lines) {
          expect([line, isLine(JSON.parse(line)), isLine.errors]).toEqual([line, true, null])
        }
      }
    },
  )
})

describe('the samples of the reference implementation', () => {
  it.each(['qai-sample-session.json', 'qai-sample-session.qai-era.json'])('%s', async (name) => {
    const path = sharedFixture(`session/${name}`)
    if (path === undefined) return
    const text = readFileSync(path, 'utf8')
    expect(detectFormat(toBytes(text).subarray(0, 65_536))).toBe(sessionJson)
    const { records, problems, lines } = await readSession(text)
    expect(messagesIn(problems)).toEqual(
      name.includes('era') ? [expect.stringMatching(/^warning: "ended_at" is null/)] : [],
    )
    const written = await writeSession(records)
    const before = JSON.parse(text) as Record<string, unknown>
    const after = JSON.parse(written) as Record<string, unknown>
    for (const [member, value] of Object.entries(before))
      expect([member, after[member]]).toEqual([member, value])
    expect(Object.keys(after)).toEqual(Object.keys(before))
    expect(written).toBe(text)
    expect(complaintsAbout(written)).toEqual([])
    expect((await readSession(written)).lines).toEqual(lines)
    // A tape in between loses nothing.
    expect(await writeSession(recordsOf(lines))).toBe(written)
    const modified = records.find((record) => record.type === 'message' && record.modified)
    expect(modified).toMatchObject({ original: expect.stringContaining('"method":"tools/call"') })
  })
})

describe('any tape', () => {
  it('of ours comes back from a session file line by line', async () => {
    await fc.assert(
      fc.asyncProperty(ownTape, fc.array(fc.nat(), { maxLength: 5 }), async (records, cuts) => {
        const text = await writeSession(records)
        const { lines, problems } = await readSession(text, cuts)
        expect(lines).toEqual(linesOf(records))
        expect(problems.filter(({ code }) => code !== 'incomplete')).toEqual([])
        expect(await writeSession(recordsOf(lines))).toBe(text)
        expect(complaintsAbout(text)).toEqual([])
        expect(detectFormat(toBytes(text).subarray(0, 65_536))).toBe(sessionJson)
      }),
      { numRuns: runs(500) },
    )
  })

  it('of another recorder keeps every message, in order, and stays as it is from then on', async () => {
    await fc.assert(
      fc.asyncProperty(foreignTape, async (records) => {
        const text = await writeSession(records)
        const reading = await readSession(text)
        expect(spoken(reading.records)).toEqual(spoken(records))
        expect(complaintsAbout(text)).toEqual([])
        const again = await writeSession(reading.records)
        expect(await writeSession((await readSession(again)).records)).toBe(again)
      }),
      { numRuns: runs(500) },
    )
  })

  it('of ours that was made of another recording comes back line by line, and its answers are known', async () => {
    const nameless = fc
      .tuple(ownTape, foreignTape)
      .map(([[meta], foreign]) => [meta!, ...foreign.filter(({ type }) => type !== 'meta')])
    await fc.assert(
      fc.asyncProperty(nameless, async (records) => {
        const text = await writeSession(records)
        const { lines } = await readSession(text)
        expect(lines).toEqual(linesOf(records))
        expect(await writeSession(recordsOf(lines))).toBe(text)
        expect(complaintsAbout(text)).toEqual([])
      }),
      { numRuns: runs(300) },
    )
    const line = (dir: string, message: object): string =>
      JSON.stringify({ t: '2026-08-01T10:00:00.000Z', dir, raw: { jsonrpc: '2.0', id: 7, ...message } })
    const [meta] = tapeOf('empty.jsonl')
    const talk = recordsOf([line('in', { method: 'ping' }), line('out', { result: {} })])
    const session: Loose = JSON.parse(await writeSession([meta!, ...talk]))
    expect(session.messages[1].correlated_id).toBe(session.messages[0].proxy_id)
    expect(session.metadata.wiretape.without).toEqual(['id', 'seq', 'us', 'corr'])
    expect(session.metadata.wiretape.lines).toBeUndefined()
  })

  it('with more notes than are held gives the same bytes as when all were held', async () => {
    const noise = (i: number): string =>
      `{"type":"noise","t":"2026-08-01T10:00:00.000Z","us":${i},"dir":"out","text":"${'x'.repeat(990)}${i}"}`
    const [meta, ...rest] = tapeOf('every-kind.jsonl')
    const write = async (count: number): Promise<string> => {
      const lines = Array.from({ length: count }, (_, i) => noise(i))
      return writeSession([meta!, ...recordsOf(lines), ...rest])
    }
    const few = await write(10)
    const many = await write(5000)
    expect(many.length).toBeGreaterThan(5_000_000)
    const added = Array.from({ length: 4990 }, (_, i) => `        {"at":0,"line":${noise(i + 10)}},\n`).join(
      '',
    )
    const at = few.indexOf(noise(9)) + noise(9).length + 3
    expect(many === few.slice(0, at) + added + few.slice(at)).toBe(true)
    expect((await readSession(many)).lines).toHaveLength(5000 + 1 + rest.length)
  })
})

describe('what a file has beside the documented members', () => {
  const text = fixture('documented.json')
  const changed = (change: (file: Loose) => void): string => {
    const file = JSON.parse(text)
    change(file)
    return JSON.stringify(file, null, 2)
  }

  it('survives a read and a write, names of prototypes too', async () => {
    const file = changed((session) => {
      session.tool = { version: [1] }
      session.messages[0].note = 'a'
      session.messages[1].tags = ['x', null]
      session.metadata.wiretape = 'a word of mine'
      session.metadata.session = 5
    })
      .replace('"tool"', '"__proto__": {"a": 1}, "constructor": 1,\n  "tool"')
      .replace('"note"', '"__proto__": null, "note"')
    const { records, problems } = await readSession(file)
    expect(problems).toEqual([])
    const written = await writeSession(records)
    expect(written).toContain('"__proto__": {"a": 1},\n  "constructor": 1,\n  "tool": {"version":[1]}')
    expect(written).toContain('"__proto__": null,\n      "note": "a"')
    expect(written).toContain('"displaced": "a word of mine"')
    const again = await readSession(written)
    expect(again.lines).toEqual(linesOf(records))
    expect(again.records[0]).toMatchObject({
      wiretape: { metadata: expect.arrayContaining([['wiretape', '"a word of mine"']]) },
    })
  })

  it('has its own way to write times and command lines, which is kept', async () => {
    const file = changed((session) => {
      session.started_at = 1_772_618_400.25
      session.ended_at = '2026-03-04 11:05:30.123456789+01:00'
      session.server_command = "python  -m 'my_server'"
      session.messages[0].timestamp = '2026-03-04T10:00:01.5Z'
      session.messages[1].timestamp = '2026-03-04T10:00:02'
      session.messages[1].jsonrpc_id = 'other'
      session.messages[1].method = 'z/z'
      session.messages[1].transport = 'sse'
    })
    const { records, problems } = await readSession(file)
    expect(problems).toEqual([])
    const written = await writeSession(records)
    expect(JSON.parse(written)).toEqual(JSON.parse(file))
    expect(complaintsAbout(written, false)).toEqual([])
  })

  it('of a message that is part of a batch survives too', async () => {
    const before = await writeSession(tapeOf('every-kind.jsonl'))
    const { note } = JSON.parse(before)
      .metadata.wiretape.lines.map((note: Loose) => ({ note }))
      .find(({ note }: Loose) => note.between?.length > 2)
    const file = before.replace(
      `"proxy_id": ${JSON.stringify(note.id)},`,
      (member) => `${member}\n      "mine": {"x": 1},`,
    )
    const { records, problems } = await readSession(file)
    expect(problems).toEqual([])
    expect(spoken(records)).toEqual(spoken(tapeOf('every-kind.jsonl')))
    expect(JSON.parse(await writeSession(records))).toEqual(JSON.parse(file))
  })

  it('may say original_payload: null of a message that was not kept as it came', async () => {
    const file = changed((session) => {
      session.messages[0].modified = true
      session.messages[0].original_payload = null
      session.messages[1].original_payload = null
    })
    const { records, problems } = await readSession(file)
    expect(problems).toEqual([])
    expect(records[1]).toMatchObject({ modified: true })
    expect(records[1]).not.toHaveProperty('original')
    expect(await writeSession(records)).not.toContain('original_payload')
  })

  it('never takes the place of what was recorded', async () => {
    const line = linesOf(tapeOf('every-kind.jsonl')).find((text) => text.includes('"modified":true'))!
    const forged = line.replace(
      /\}$/,
      ',"session":{"payload":{"jsonrpc":"2.0","method":"evil"},"direction":"up","original_payload":{},"modified":false}}',
    )
    const records = recordsOf([linesOf(tapeOf('every-kind.jsonl'))[0]!, forged])
    const text = await writeSession(records)
    const [message] = JSON.parse(text).messages
    expect(message.payload).toEqual(JSON.parse(line).raw)
    expect(message).toMatchObject({ modified: true, original_payload: JSON.parse(line).original })
    expect((await readSession(text)).lines).toEqual(linesOf(records))
  })
})

describe('a session of 100,000 messages', () => {
  const count = 100_000
  const payload = (i: number): string =>
    `{"jsonrpc":"2.0","id":${i},"method":"m","params":{"x":"${'x'.repeat(400)}"}}`
  const [meta] = recordsOf(fixture('empty.jsonl').trimEnd().split('\n'))

  async function* records(): AsyncGenerator<TapeRecord> {
    yield meta!
    for (let i = 0; i < count; i += 1) {
      const us = 1000 * i
      yield plainMessage(payload(i), { t: new Date(Date.UTC(2026, 7, 1, 10) + i).toISOString(), us, seq: i })
    }
  }

  it.runIf(isLong)('is written and read without being held', { timeout: 120_000 }, async () => {
    const before = heldBytes()
    let most = 0
    const look = (): void => {
      most = Math.max(most, heldBytes() - before)
    }
    let size = 0
    let chunks = 0
    for await (const chunk of sessionJson.write!({ records }, () => undefined)) {
      size += chunk.length
      chunks += 1
      if (chunks % 500 === 0) look()
    }
    expect(size).toBeGreaterThan(count * 700)

    const note = `{"at":7,"line":{"type":"stderr","t":"","text":"${'y'.repeat(1000)}"}}`
    const [head, entry] = frameOf(
      await writeSession([meta!, plainMessage('{"jsonrpc":"2.0","id":0,"method":"m"}')]),
    )
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield toBytes(head)
      for (let i = 0; i < count; i += 1000) {
        const entries = Array.from({ length: 1000 }, (_, j) =>
          entry.replace(/\{"jsonrpc.*\}/, payload(i + j)),
        )
        yield toBytes(`${i === 0 ? '' : ','}${entries.join(',')}`)
      }
      yield toBytes('],"metadata":{"wiretape":{"version":1,"lines":[')
      for (let i = 0; i < 20_000; i += 1) yield toBytes(`${note},`)
      yield toBytes(`${note}]}}}`)
    }
    let messages = 0
    const problems: Diagnostic[] = []
    for await (const record of sessionJson.read!({ bytes }, (problem) => problems.push(problem))) {
      if (record.type === 'message') messages += 1
      if (messages % 50_000 === 0) look()
    }
    expect([messages, problems.map(({ code }) => code)]).toEqual([count, ['incomplete']])
    expect(most).toBeLessThan(30_000_000)
  })
})

/** The text before and in the only message of a file. */
function frameOf(text: string): [string, string] {
  const start = text.indexOf('[') + 1
  return [text.slice(0, start), text.slice(start, text.indexOf('\n  ]', start))]
}
