import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { detectFormat, formats } from '../../src/formats/index.js'
import { sessions } from './codec-sessions.js'
import { adopted, formatOf, read, spoken, throughTape, unsized, write } from './codec-stage.js'
import { chunksOf, toBytes } from './session-json-stage.js'
import { isLong, runs } from '../long.js'

const readable = formats.filter((format) => 'read' in format).map(({ id }) => id)
const both = formats.filter((format) => 'read' in format && 'write' in format).map(({ id }) => id)
/** Formats of HTTP. */
const overHttp = new Set(['streamable-http', 'http-sse', 'har'])

describe('what a session says', () => {
  it.each(both)('survives %s: every message, its text, who sent it, what it answers', async (id) => {
    await fc.assert(
      fc.asyncProperty(
        sessions({
          http: overHttp.has(id),
          batches: id === 'trace-v1' || id === 'session-json' || id === 'har',
        }),
        fc.array(fc.nat(4000), { maxLength: 5 }),
        async (records, cuts) => {
          const { text } = await write(id, await adopted(records))
          const back = await read(id, text, cuts)
          expect(await spoken(back.records)).toEqual(await spoken(records))
          expect(back.said).toEqual([])
          expect(unsized(throughTape(back.records))).toEqual(unsized(back.records))
        },
      ),
      { numRuns: 30 },
    )
  })

  it.each(both)('is written the same again after it was read from %s', async (id) => {
    await fc.assert(
      fc.asyncProperty(sessions({ http: overHttp.has(id), batches: id !== 'inspector' }), async (records) => {
        const { text } = await write(id, await adopted(records))
        const again = await write(id, await adopted((await read(id, text)).records))
        expect(again.text).toBe(text)
      }),
      { numRuns: 20 },
    )
  })

  it.each(both.filter((id) => id !== 'jsonrpc'))('keeps its times in %s, to the millisecond', async (id) => {
    await fc.assert(
      fc.asyncProperty(sessions({ http: overHttp.has(id), batches: false }), async (records) => {
        const times = (all: typeof records): (string | undefined)[] =>
          all.flatMap((record) => (record.type === 'message' ? [record.t.slice(0, 23)] : []))
        const back = await read(id, (await write(id, await adopted(records))).text)
        expect(times(back.records)).toEqual(times(records))
      }),
      { numRuns: 20 },
    )
  })
})

describe('detection', () => {
  it.each(both)('knows what %s wrote, and no other format claims it', async (id) => {
    await fc.assert(
      fc.asyncProperty(sessions({ http: overHttp.has(id) }), async (records) => {
        const { text } = await write(id, await adopted(records))
        expect(detectFormat(toBytes(text).subarray(0, 65_536))?.id).toBe(id)
        expect(detectFormat(toBytes(`\ufeff${text}`).subarray(0, 65_536))?.id).toBe(id)
      }),
      { numRuns: 30 },
    )
  })

  it.each([
    ['jsonrpc', '\n\n{"method":"tools/list","id":1}\n'],
    ['jsonrpc', `{"jsonrpc":"2.0","id":1,"method":"x","params":"${'y'.repeat(100_000)}"}`],
    ['jsonrpc', '[{"jsonrpc":"2.0","id":1,"method":"a"}]\n{"jsonrpc":"2.0","id":1,"result":1}\n'],
    ['inspector', '[{"jsonrpc":"2.0","id":1,"method":"a"}]\n'],
    ['inspector', '[]'],
    ['inspector', '{"events": [ {"jsonrpc":"2.0","id":1,"method":"a"}]}'],
    ['inspector', '[\n {"timestamp":"2026-08-19T10:00:00.000Z","message":"to stderr"}]'],
    ['inspector', '[{"receivedAt":"2026-08-19T10:00:00.000Z","params":{"level":"info","data":1}}]'],
    ['streamable-http', '{"entries":[{"request":{"jsonrpc":"2.0"}}],"transport":"streamable-http"}'],
    ['http-sse', '{ "transport" : "http-sse", "entries":[]}'],
    [undefined, '{"hello":"world"}'],
    [undefined, '[1,2,3]'],
    [undefined, '{"method":"GET","url":"/x"}\n'],
    [undefined, '{"type":"episode_start","episode_id":"e"}\n'],
    [undefined, 'seq,time\r\n'],
    [undefined, ''],
  ])('takes for %s: %s', (id, text) => {
    expect(detectFormat(toBytes(text).subarray(0, 65_536))?.id).toBe(id)
  })
})

describe('bad input', () => {
  const sample = async (id: string): Promise<Uint8Array> => {
    const [records] = fc.sample(sessions({ http: overHttp.has(id) }), { numRuns: 1, seed: 7 })
    return toBytes((await write(id, await adopted(records!.slice(0, 4)))).text)
  }
  const outcome = async (id: string, bytes: Uint8Array): Promise<string> =>
    read(id, bytes).then(
      ({ records }) => {
        // Every record of a reader can be written to a tape.
        throughTape(records)
        return 'read'
      },
      (error: Error) => error.name,
    )

  it.each(readable)('cut anywhere, %s is read as far as it goes, or refused', async (id) => {
    const bytes = await sample(id)
    for (let length = 0; length < bytes.length; length += isLong ? 1 : 7) {
      expect(['read', 'WiretapeError']).toContain(await outcome(id, bytes.subarray(0, length)))
    }
  })

  it.each(readable)('with a byte changed, %s is read or refused', async (id) => {
    const bytes = await sample(id)
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), async (at, byte) => {
        const changed = Uint8Array.from(bytes)
        changed[at] = byte
        expect(['read', 'WiretapeError']).toContain(await outcome(id, changed))
      }),
      { numRuns: runs(200) },
    )
  })

  it.each(readable)('of any bytes, %s makes records or a refusal', async (id) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        expect(['read', 'WiretapeError']).toContain(await outcome(id, bytes))
      }),
      { numRuns: runs(200) },
    )
  })

  it.each(['jsonrpc', 'inspector', 'streamable-http', 'http-sse'])(
    'as deep as can be, %s is read or refused',
    async (id) => {
      const depth = isLong ? 60_000 : 20_000
      const bomb = `{"jsonrpc":"2.0","id":1,"method":"x","params":${'['.repeat(depth)}${']'.repeat(depth)}}`
      const text =
        id === 'jsonrpc'
          ? bomb
          : id === 'inspector'
            ? `[${bomb}]`
            : `{"transport":"${id}","entries":[{"request":${bomb}}]}`
      expect(await outcome(id, toBytes(text))).toBe('read')
      for (const other of formats) if (other.write) await write(other.id, (await read(id, text)).records)
    },
  )

  it.each(['trace-v1', 'jsonrpc'])(
    '%s that is no longer what it was when it was checked is no reason to fall',
    async (id) => {
      const bytes = await sample(id)
      await fc.assert(
        fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), async (at, byte) => {
          const changed = Uint8Array.from(bytes)
          changed[at] = byte
          const input = { bytes: () => chunksOf(changed), checked: true }
          try {
            for await (const record of formatOf(id).read!(input, () => undefined))
              expect(record.type).toBeTypeOf('string')
          } catch (error) {
            expect((error as Error).name).toBe('WiretapeError')
          }
        }),
        { numRuns: runs(240) },
      )
    },
  )

  it('in the middle costs itself only', async () => {
    const good = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const { records, said } = await read('jsonrpc', `${good}\n{"a":\n\n"x"\n${good}\r\n`)
    expect(records.map(({ type }) => type)).toEqual(['meta', 'message', 'message', 'end'])
    expect(said).toEqual([
      '2: not valid JSON: unexpected end of text',
      '4: neither a JSON-RPC message nor a batch of them',
    ])
    const entries = `[{"request":${good}}, {"request":1,"sse":2}, 5, {"response":{"jsonrpc":"2.0","id":1,"result":{}}}]`
    const other = await read('streamable-http', `{"transport":"streamable-http","entries":${entries}}`)
    expect(await spoken(other.records)).toEqual([`> ${good}`, '< #0 {"jsonrpc":"2.0","id":1,"result":{}}'])
    expect(other.said).toHaveLength(2)
  })
})

describe('every writer', () => {
  it('takes an empty recording', async () => {
    for (const { id } of formats.filter((format) => 'write' in format)) {
      expect(typeof (await write(id, [])).text).toBe('string')
    }
  })

  it('says what it cannot hold', async () => {
    const t = '2026-08-01T10:00:00.000Z'
    const records = await adopted([
      { type: 'meta', startedAt: t, label: 'x', command: ['a'] },
      { type: 'stderr', t, text: 'oops' },
      { type: 'noise', t, direction: 'server_to_client', text: 'hello' },
      { type: 'gap', t, lost: 2, why: 'disk full' },
    ])
    for (const id of ['jsonrpc', 'inspector', 'otlp-json']) {
      expect((await write(id, records)).said).toEqual([
        'stderr lines are left out: 1',
        'lines that are not JSON are left out: 1',
        'gaps are left out: 1',
      ])
    }
    expect('read' in formatOf('csv')).toBe(false)
  })
})
