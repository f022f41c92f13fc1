import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { detectFormat, sessionJson } from '../../src/formats/index.js'
import { WiretapeError, type Diagnostic } from '../../src/model/index.js'
import { complaintsAbout } from './session-json-reference.js'
import {
  messagesIn,
  readSession,
  toBytes,
  writeSession,
  type Loose,
  type Reading,
} from './session-json-stage.js'
import { isLong, runs } from '../long.js'

const folder = join(import.meta.dirname, '../fixtures/session-json')
const ofEveryKind = readFileSync(join(folder, 'every-kind.json'), 'utf8')

function entry(number: number, more: object = {}): Record<string, unknown> {
  return {
    proxy_id: `id-${number}`,
    sequence: number,
    timestamp: `2026-08-01T10:00:0${number}+00:00`,
    direction: 'client_to_server',
    transport: 'stdio',
    jsonrpc_id: number,
    method: 'ping',
    correlated_id: null,
    modified: false,
    payload: { jsonrpc: '2.0', id: number, method: 'ping' },
    ...more,
  }
}

const session = (more: object = {}): Record<string, Loose> => ({
  id: 's',
  started_at: '2026-08-01T10:00:00Z',
  ended_at: '2026-08-01T10:01:00Z',
  transport: 'stdio',
  server_command: 'server',
  server_url: null,
  messages: [entry(0), entry(1), entry(2)],
  metadata: { target: 't' },
  ...more,
})
const without = (object: Record<string, unknown>, name: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
const text = (value: unknown): string => JSON.stringify(value, null, 2)
/** The second message in another way. */
const second = (change: (message: Record<string, unknown>) => unknown): string =>
  text(session({ messages: [entry(0), change(entry(1)), entry(2)] }))

/** The numbers of the messages that could be read. */
const numbers = ({ records }: Reading): (number | undefined)[] =>
  records.flatMap((record) => (record.type === 'message' ? [record.seq] : []))
const said = (problems: readonly Diagnostic[]): string[] => messagesIn(problems)

async function attempt(input: string | Uint8Array): Promise<Reading | WiretapeError> {
  try {
    return await readSession(input)
  } catch (error) {
    if (error instanceof WiretapeError) return error
    throw error
  }
}

describe('a message with a fault', () => {
  const required = ['proxy_id', 'sequence', 'timestamp', 'transport']
  it.each(required)('that has no %s is read, and named', async (name) => {
    const reading = await readSession(second((message) => without(message, name)))
    expect(numbers(reading)).toEqual([0, 1, 2])
    expect(said(reading.problems)).toEqual([`error: message 1: "${name}" is missing`])
    expect(reading.problems[0]).toMatchObject({ code: 'bad-entry', at: { line: 25 } })
    expect(complaintsAbout(await writeSession(reading.records))).toEqual([])
  })

  it.each(['direction', 'payload'])('that has no %s is kept as a line of the tape', async (name) => {
    const reading = await readSession(second((message) => without(message, name)))
    expect(numbers(reading)).toEqual([0, 2])
    expect(said(reading.problems)).toEqual([`error: message 1: "${name}" is missing`])
    expect(reading.records[2]).toMatchObject({ type: 'unknown', name: 'session-entry' })
    const written = await writeSession(reading.records)
    expect(complaintsAbout(written)).toEqual([])
    expect((await readSession(written)).lines).toEqual(reading.lines)
  })

  it.each<[string, object, string]>([
    [
      'direction',
      { direction: 'in' },
      '"direction" is "in", neither "client_to_server" nor "server_to_client"',
    ],
    ['payload', { payload: 5 }, '"payload" is number, not a JSON-RPC message'],
    ['payload', { payload: null }, '"payload" is null, not a JSON-RPC message'],
  ])('in its %s is left out', async (_name, more, problem) => {
    const reading = await readSession(second((message) => ({ ...message, ...more })))
    expect(said(reading.problems)).toEqual([`error: message 1: ${problem}`])
    expect(numbers(reading)).toEqual([0, 2])
  })

  it.each<[object, string]>([
    [{ proxy_id: 7 }, '"proxy_id" is not a string'],
    [{ sequence: '1' }, '"sequence" is not an integer from 0'],
    [{ sequence: -1 }, '"sequence" is not an integer from 0'],
    [{ sequence: 1.5 }, '"sequence" is not an integer from 0'],
    [{ timestamp: 1_785_000_000 }, '"timestamp" is not an ISO 8601 time'],
    [{ timestamp: 'yesterday' }, '"timestamp" is not an ISO 8601 time'],
    [{ timestamp: '2026-02-30T10:00:00Z' }, '"timestamp" is not an ISO 8601 time'],
    [{ transport: 'http' }, '"transport" is "http", not stdio, sse or streamable-http'],
    [{ modified: 'yes' }, '"modified" is "yes", not true or false'],
    [{ original_payload: { jsonrpc: '2.0', method: 'x' } }, '"original_payload" needs "modified": true'],
    [{ modified: true, original_payload: 'x' }, '"original_payload" is not an object'],
    [{ payload: [{ jsonrpc: '2.0', method: 'x' }] }, '"payload" is an array, not one JSON-RPC message'],
    [{ payload: { id: 1 } }, '"payload" is not a JSON-RPC 2.0 message: "jsonrpc" is not "2.0"'],
  ])('%j is read all the same, and written in a way that others read', async (more, problem) => {
    const reading = await readSession(second((message) => ({ ...message, ...more })))
    expect(said(reading.problems)).toEqual([`error: message 1: ${problem}`])
    expect(reading.records.filter(({ type }) => type === 'message')).toHaveLength(3)
    const written = await writeSession(reading.records)
    expect(complaintsAbout(written)).toEqual([])
    expect((await readSession(written)).lines).toEqual(reading.lines)
  })

  it.each([
    '2026-08-01T10:00:01.123456789Z',
    '2026-08-01 10:00:01',
    '2026-08-01T10:00:01,5+0000',
    '2026-08-01T10:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-30T00:00:00Z',
  ])('has none in the time %s', async (timestamp) => {
    const reading = await readSession(second((message) => ({ ...message, timestamp })))
    expect(reading.problems).toEqual([])
    expect(await writeSession(reading.records)).toContain(`"timestamp": "${timestamp}"`)
  })

  it('that shares its proxy_id with another is a message of its own', async () => {
    const reading = await readSession(second((message) => ({ ...message, proxy_id: 'id-0' })))
    expect(reading.problems).toEqual([])
    const written = await writeSession(reading.records)
    expect((await readSession(written)).lines).toEqual(reading.lines)
  })
})

describe('a file with a fault at its top', () => {
  it.each(Object.keys(session()))('that has no %s is read but for that', async (name) => {
    const reading = await readSession(text(without(session(), name)))
    expect(said(reading.problems)).toEqual([`error: the session has no "${name}"`])
    expect(numbers(reading)).toEqual(name === 'messages' ? [] : [0, 1, 2])
    expect(complaintsAbout(await writeSession(reading.records))).toEqual([])
  })

  it.each<[object, string]>([
    [{ id: 5 }, '"id" is not a string'],
    [{ started_at: 'now' }, '"started_at" is not an ISO 8601 time'],
    [{ started_at: null }, '"started_at" is not an ISO 8601 time'],
    [{ ended_at: 'later' }, '"ended_at" is not an ISO 8601 time'],
    [{ transport: 'streamable_http' }, '"transport" is "streamable_http", not stdio, sse or streamable-http'],
    [{ server_command: ['a'] }, '"server_command" is neither a string nor null'],
    [{ server_url: 5 }, '"server_url" is neither a string nor null'],
    [{ messages: { 0: entry(0), 1: entry(1) } }, '"messages" is not an array'],
    [{ messages: null }, '"messages" is not an array'],
    [{ metadata: null }, '"metadata" is not an object'],
    [{ metadata: [1] }, '"metadata" is not an object'],
  ])('%j says so in one line', async (more, problem) => {
    const reading = await readSession(text(session(more)))
    expect(said(reading.problems)).toEqual([`error: ${problem}`])
    expect(numbers(reading)).toEqual('messages' in more ? [] : [0, 1, 2])
    const written = await writeSession(reading.records)
    expect(complaintsAbout(written)).toEqual([])
    expect((await readSession(written)).lines).toEqual(reading.lines)
  })

  it('has a member twice', async () => {
    const file = text(session()).replace('"id": "s"', '"id": "r",\n  "id": "s"')
    const reading = await readSession(file)
    expect(said(reading.problems)).toEqual(['error: "id" occurs more than once'])
    expect(reading.records[0]).toMatchObject({ wiretape: { session: 's' } })
    const twice = await readSession(file.replace('"metadata"', '"messages": [],\n  "metadata"'))
    expect(said(twice.problems)).toContain('error: "messages" occurs more than once')
  })

  it.each([
    '',
    ' ',
    '[]',
    '{}',
    '{"messages":[]}',
    'null',
    '{"a":1,"b":[2]}',
    '"id"',
    '\u0000',
    '{"log":{"version":"1.2"}}',
  ])('%j is no session', async (input) => {
    expect(await attempt(input)).toMatchObject({ code: 'not-a-recording' })
    expect(detectFormat(toBytes(input))).not.toBe(sessionJson)
  })
})

describe('JSON that is broken', () => {
  const payload = '"payload": {\n        "jsonrpc": "2.0",\n        "id": 1,'
  it.each<[string, string]>([
    ['a bracket that is missing', '"payload": {\n        "jsonrpc": {"2.0",\n        "id": 1,'],
    ['a string that is not closed', '"payload": {\n        "jsonrpc": "2.0,\n        "id": 1,'],
    ['a control character', '"payload": {\n        "jsonrpc": "2\t0",\n        "id": 1,'],
    ['a word that is none', '"payload": {\n        "jsonrpc": tru,\n        "id": 1,'],
    ['an escape that is none', '"payload": {\n        "jsonrpc": "\\x",\n        "id": 1,'],
  ])('in %s costs its message only', async (_what, broken) => {
    const file = text(session())
    expect(file).toContain(payload)
    const reading = await readSession(file.replace(payload, broken))
    expect(numbers(reading)).toEqual([0, 2])
    expect(said(reading.problems)).toEqual([expect.stringMatching(/^error: message 1: not valid JSON: /)])
    expect(reading.records[0]).toMatchObject({ wiretape: { metadata: [['target', '"t"']] } })
    expect(reading.records[2]).toMatchObject({ type: 'unknown', name: 'session-entry' })
    const written = await writeSession(reading.records)
    expect((await readSession(written)).lines).toEqual(reading.lines)
  })

  it('in a message that holds what looks like one is told, and nothing before it is lost', async () => {
    const broken = '"payload": {\n        "list": [{"proxy_id": "x"}],"metadata": {} x,\n        "id": 1,'
    const reading = await readSession(text(session()).replace(payload, broken))
    expect(numbers(reading)[0]).toBe(0)
    expect(said(reading.problems)[0]).toMatch(/^error: message 1: not valid JSON: /)
  })

  it('in the last message hides nothing of the metadata', async () => {
    const lines = ofEveryKind.split('\n')
    const at = lines.findLastIndex((line) => line.includes('"payload"'))
    const reading = await readSession(lines.with(at, lines[at]!.replace('{', '{]')).join('\n'))
    const whole = await readSession(ofEveryKind)
    expect(said(reading.problems)).toEqual([expect.stringMatching(/^error: message 8: not valid JSON: /)])
    expect(reading.lines[0]).toBe(whole.lines[0])
    expect(reading.lines.filter((line) => !line.includes('session-entry'))).toEqual(
      whole.lines.toSpliced(
        reading.lines.findIndex((line) => line.includes('session-entry')),
        1,
      ),
    )
  })

  it('in bytes that are no text costs its message only', async () => {
    const bytes = toBytes(text(session()).replace('"id-1"', '"@"'))
    bytes[bytes.indexOf(0x40)] = 0xff
    const reading = await readSession(bytes)
    expect(numbers(reading)).toEqual([0, 2])
    expect(said(reading.problems)).toEqual(['error: message 1: not valid JSON: not valid UTF-8'])
  })

  it('in a comma is said, and costs nothing', async () => {
    const reading = await readSession(
      text(session()).replace('    {\n      "proxy_id": "id-1"', '    ,{\n      "proxy_id": "id-1"'),
    )
    expect(numbers(reading)).toEqual([0, 1, 2])
    expect(said(reading.problems)).toEqual(['error: before message 1: not valid JSON: expected a value'])
  })

  it('on one line is found again too', async () => {
    const reading = await readSession(JSON.stringify(session()).replace('"id":1,"method"', '"id":1,"method'))
    expect(numbers(reading)).toEqual([0, 2])
  })
})

describe('a file cut off', () => {
  it('at any byte gives the messages that are whole', async () => {
    const file = toBytes(ofEveryKind)
    const whole = (await readSession(ofEveryKind)).records
    const payloads = whole.filter(({ type }) => type === 'message').length
    let most = 0
    const every = isLong ? 1 : 8
    for (let length = 0; length < file.length; length += (length < 3000 ? 1 : 7) * every) {
      const reading = await attempt(file.subarray(0, length))
      if (reading instanceof WiretapeError) {
        expect(length).toBeLessThan(120)
        continue
      }
      const count = reading.records.filter(({ type }) => type === 'message').length
      expect(count).toBeGreaterThanOrEqual(Math.min(most, 2))
      most = Math.max(most, count)
      expect(reading.problems.some(({ severity }) => severity === 'error')).toBe(true)
      expect(new Set(said(reading.problems)).size).toBe(reading.problems.length)
    }
    expect(most).toBeGreaterThanOrEqual(payloads - 1)
  })
})

describe('metadata.wiretape', () => {
  const withOwn = (own: unknown, more: object = {}): string =>
    text(session({ metadata: { wiretape: own }, ...more }))

  it.each<[unknown, string]>([
    [{ version: 2, lines: [{ at: 0 }] }, 'version 2'],
    [{ version: '1' }, 'version "1"'],
    [{ mine: true, lines: [] }, 'no version'],
    [{}, 'no version'],
  ])('%j is of somebody else, and kept', async (own, version) => {
    const reading = await readSession(withOwn(own))
    expect(said(reading.problems)).toEqual([
      `warning: metadata.wiretape has ${version}, but wiretape reads version 1: it is kept unchanged`,
    ])
    const written = await writeSession(reading.records)
    expect(JSON.parse(written).metadata.wiretape.displaced).toEqual(own)
    const again = await readSession(written)
    expect([again.problems, again.lines]).toEqual([[], reading.lines])
  })

  it.each([null, 5, 'x', [1], false])('%j is of somebody else, and kept without a word', async (own) => {
    const reading = await readSession(withOwn(own))
    expect(reading.problems).toEqual([])
    expect(JSON.parse(await writeSession(reading.records)).metadata.wiretape.displaced).toEqual(own)
  })

  it('of shapes that we do not write is left out, with a word', async () => {
    const reading = await readSession(withOwn({ version: 1, meta: 5, end: [], lines: {} }))
    expect(said(reading.problems)).toEqual([
      'warning: metadata.wiretape.meta, metadata.wiretape.end, metadata.wiretape.lines is not valid and is left out',
    ])
    expect(numbers(reading)).toEqual([0, 1, 2])
  })

  it.each([
    { v: 2 },
    { type: 'end', startedAt: 5 },
    { wiretape: { session: 5 } },
    { wiretape: 5 },
    { session: { id: 'other' }, command: 'x' },
  ])('with the meta line %j gives records', async (meta) => {
    const reading = await readSession(withOwn({ version: 1, meta, end: meta }))
    expect(reading.records[0]).toMatchObject({ type: 'meta' })
    expect(numbers(reading)).toEqual([0, 1, 2])
    await writeSession(reading.records)
  })

  it('with lines that are none leaves them out and says how many', async () => {
    const lines = [5, {}, { at: 'x', line: {} }, { at: 0 }, { at: 0, line: [] }, { at: 0, line: { t: 5 } }]
    const good = { at: 1, line: { type: 'stderr', t: '2026-08-01T10:00:00.000Z', text: 'x' } }
    const reading = await readSession(withOwn({ version: 1, lines: [...lines, good, { at: 0, line: '{' }] }))
    expect(said(reading.problems)).toEqual([
      'error: elements of metadata.wiretape.lines that are not lines of a tape are left out: 7',
    ])
    expect(reading.records.map(({ type }) => type)).toEqual([
      'meta',
      'message',
      'stderr',
      'message',
      'message',
      'end',
    ])
  })

  it.each<[string, object]>([
    ['a line of another type', { line: { type: 'meta', v: 1 } }],
    ['a time that is none', { line: { t: 5 } }],
    ['a batch of something else', { line: {}, between: ['[', ']]'] }],
    ['a batch that is none', { line: {}, between: ['', ''] }],
    ['a batch of more', { line: {}, between: ['[', ',', ',', ',', ']'] }],
    ['another direction and text', { line: { dir: 'out', raw: {} } }],
    ['nothing', { line: {}, without: ['t', 'raw'] }],
  ])('that makes of a message %s gives the message', async (_what, note) => {
    const reading = await readSession(withOwn({ version: 1, lines: [{ at: 1, id: 'id-1', ...note }] }))
    expect(numbers(reading)).toEqual([0, 1, 2])
    expect(reading.records.flatMap((record) => (record.type === 'message' ? [record.raw] : []))).toEqual(
      [0, 1, 2].map((id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`),
    )
    for (const { direction } of reading.records as Loose[])
      expect(direction ?? 'client_to_server').toBe('client_to_server')
  })

  const noted = (change: (file: Loose) => void): string => {
    const note = (at: number, line: object): object => ({ at, id: `id-${at}`, line })
    const stderr = { type: 'stderr', t: '2026-08-01T10:00:00.000Z', text: 'x' }
    const messages = Array.from({ length: 6 }, (_, i) => entry(i))
    const lines = [
      note(1, { conv: 'one' }),
      note(3, { conv: 'three' }),
      { at: 4, line: stderr },
      note(4, { conv: 'four' }),
      note(5, { conv: 'five' }),
    ]
    const file = session({ messages, metadata: { wiretape: { version: 1, lines } } })
    change(file)
    return text(file)
  }
  const conversations = ({ records }: Reading): string =>
    records
      .flatMap((record) =>
        record.type === 'message'
          ? [`${record.parts[0]!.id}${record.conversation === undefined ? '' : `=${record.conversation}`}`]
          : record.type === 'stderr'
            ? ['(x)']
            : [],
      )
      .join(' ')

  it('finds its place again when messages were taken away or put in', async () => {
    const unchanged = await readSession(noted(() => undefined))
    expect(conversations(unchanged)).toBe('id-0 id-1=one id-2 id-3=three (x) id-4=four id-5=five')
    expect(unchanged.problems).toEqual([])

    const lacking = await readSession(noted((file) => file.messages.splice(3, 1)))
    expect(conversations(lacking)).toBe('id-0 id-1=one id-2 (x) id-4=four id-5=five')
    expect(said(lacking.problems)).toEqual([
      'warning: the file was changed: elements of metadata.wiretape.lines that match no message are left out: 1',
    ])

    const more = await readSession(noted((file) => file.messages.splice(3, 0, entry(9))))
    expect(conversations(more)).toBe('id-0 id-1=one id-2 id-9 id-3=three (x) id-4=four id-5=five')
    expect(more.problems).toEqual([])

    const none = await readSession(noted((file) => file.messages.splice(0)))
    expect(conversations(none)).toBe('(x)')
    expect(none.problems).toHaveLength(1)
  })

  it('of a batch that lost a message gives the others one by one', async () => {
    const file = JSON.parse(ofEveryKind)
    const at = file.metadata.wiretape.lines.find((note: Loose) => note.between).at
    file.messages.splice(at, 1)
    const reading = await readSession(text(file))
    expect(reading.records.some((record) => record.type === 'message' && record.batch)).toBe(false)
    expect(reading.records.filter(({ type }) => type === 'message')).toHaveLength(file.messages.length + 1)
  })
})

describe('what is too much for others', () => {
  it.each([
    ['nested', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['with a number of 10,000 digits', `{"n":${'9'.repeat(10_000)}}`],
  ])('%s is read, and written so that they can read the file', async (_what, value) => {
    const file = text(session()).replace('"metadata": {', `"metadata": {\n"big": ${value},`)
    const deep = file.replace('"id": 1,', `"id": 1, "params": ${value}, `)
    const reading = await readSession(deep)
    expect(reading.problems).toEqual([])
    expect(numbers(reading)).toEqual([0, 1, 2])
    const written = await writeSession(reading.records)
    expect(complaintsAbout(written)).toEqual([])
    expect((await readSession(written)).lines).toEqual(reading.lines)
  })

  it.runIf(isLong)(
    'a string of 100 MB is read',
    async () => {
      const long = 'x'.repeat(100_000_000)
      const reading = await readSession(text(session()).replace('"id": 1,', `"id": 1, "x": "${long}",`))
      expect(reading.problems).toEqual([])
      expect(reading.records[2]).toMatchObject({ type: 'message', seq: 1 })
    },
    60_000,
  )
})

describe('any change to a file', () => {
  const names = [
    'messages',
    'metadata',
    'wiretape',
    'lines',
    'proxy_id',
    'at',
    'line',
    'id',
    'payload',
    'between',
    'version',
  ]
  const snippet = fc.oneof(
    fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '\n', '1', 'null', '\ufeff', '\u0000', ''),
    fc.constantFrom(...names).map((name) => `"${name}":`),
    fc.json(),
  )

  it(
    'of bytes gives records and diagnostics or a WiretapeError, and what was read can be written',
    { timeout: 200_000 },
    async () => {
      const bytes = toBytes(ofEveryKind)
      const edit = fc.tuple(fc.nat({ max: bytes.length }), fc.nat({ max: 40 }), snippet)
      await fc.assert(
        fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), fc.nat(255), async (edits, byte) => {
          let changed = Buffer.from(bytes)
          for (const [at, count, put] of edits) {
            changed = Buffer.concat([changed.subarray(0, at), toBytes(put), changed.subarray(at + count)])
          }
          changed[edits[0]![0] % changed.length] = byte
          detectFormat(changed)
          const reading = await attempt(changed)
          if (reading instanceof WiretapeError) return
          const written = await writeSession(reading.records)
          expect(complaintsAbout(written, false)).toEqual([])
          expect((await readSession(written)).lines).toEqual(reading.lines)
        }),
        { numRuns: runs(300) },
      )
    },
  )

  it('of values does too', async () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<unknown>('stdio', 'client_to_server', true, 1, -1, '2026-08-01T10:00:00Z', {
        jsonrpc: '2.0',
        method: 'x',
      }),
      fc.constantFrom<unknown>({ version: 1, lines: [{ at: 0, id: 'id-0', line: { us: 'x' } }] }, [
        { at: 1, line: { type: 'x' } },
      ]),
    )
    const file = JSON.parse(ofEveryKind)
    const paths = pathsIn(file)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...paths), value), { minLength: 1, maxLength: 4 }),
        async (changes) => {
          const changed = structuredClone(file)
          for (const [path, value] of changes) {
            const parent = path.slice(0, -1).reduce((at, name) => at?.[name], changed)
            if (typeof parent === 'object' && parent !== null) parent[path.at(-1)!] = structuredClone(value)
          }
          const reading = await attempt(text(changed))
          if (reading instanceof WiretapeError) return
          const written = await writeSession(reading.records)
          expect(complaintsAbout(written, false)).toEqual([])
          expect((await readSession(written)).lines).toEqual(reading.lines)
        },
      ),
      { numRuns: runs(300) },
    )
  })
})

function pathsIn(value: Loose, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  const inside = Object.keys(value).flatMap((name) => pathsIn(value[name], [...path, name]))
  return path.length === 0 ? inside : [path, ...inside]
}
