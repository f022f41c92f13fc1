import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mergedRows, type RowSieve } from '../../../src/cli/inspect/rows.js'
import { prepareSieve } from '../../../src/cli/inspect/sieve.js'
import { loadRecordings } from '../../../src/cli/recordings.js'
import { fixtures } from '../../behaviour/run-cli.js'
import { identity } from '../../fixtures/identity.mjs'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-rows-'))
  writeFileSync(join(folder, 'untimed.jsonl'), `${lines().join('\n')}\n`)
  writeFileSync(join(folder, 'timed.jsonl'), `${lines(7).join('\n')}\n`)
  const broken = lines()
  broken.splice(5, 1, '{"jsonrpc":', '', '   ')
  writeFileSync(join(folder, 'broken.jsonl'), `${broken.join('\r\n')}\r\n`)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Calls of three tools by both sides, of which some fail and some have no answer. @param timed each so manieth line */
function lines(timed = 0): string[] {
  const all: unknown[] = [
    { jsonrpc: '2.0', id: 'i', method: 'initialize', params: {} },
    {
      jsonrpc: '2.0',
      id: 'i',
      result: { protocolVersion: '2025-06-18', serverInfo: { name: 's', version: '1' } },
    },
  ]
  for (let id = 0; id < 100; id += 1) {
    const name = ['search', 'read', 'a\nb'][id % 3]
    const _meta = { progressToken: id }
    all.push(
      id % 10 === 9
        ? { jsonrpc: '2.0', id, method: 'sampling/createMessage', params: { n: id } }
        : { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: { n: id }, _meta } },
    )
    if (id % 4 === 0)
      all.push({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: id, progress: 1 },
      })
    if (id % 7 === 0) continue
    all.push(
      id % 5 === 0
        ? { jsonrpc: '2.0', id, error: { code: -32000, message: 'no' } }
        : {
            jsonrpc: '2.0',
            id,
            result: { content: [{ type: 'text', text: `n${id}` }], isError: id % 11 === 0 },
          },
    )
    if (id % 13 === 0) all.push({ jsonrpc: '2.0', id, result: {} })
  }
  return all.map((message, i) => {
    const text = JSON.stringify(message)
    return timed > 0 && i % timed === 0 ? text.replace('{', `{"timestamp_ms":${1785578400000 + i},`) : text
  })
}

const filters = [
  'tool:search status:error',
  'tool:search',
  '-tool:search is:answer',
  '-method:tools/call',
  'is:late or is:orphan',
  'is:unanswered dir:out',
  'dir:in size:<150B',
  '(tool:read or tool:search) -status:ok',
  'method:notifications/progress',
  'latency:>0ms',
  'seq:7..9 or is:gap or is:http or is:noise or is:stderr',
  'is:held or is:dropped or is:modified or is:batch',
  'text:n17',
  'code:-32000 or id:3',
  'since:1s',
]

/** What is listed when only what a filter may want is read again, and when everything is. */
async function listed(files: readonly string[], filter: string, all: boolean): Promise<unknown[]> {
  const maker = await prepareSieve(filter)
  const loaded = await loadRecordings(files, folder, maker.watch)
  try {
    const { keeps, wanted } = maker.make(loaded.recordings.map(({ fold }) => fold))
    const sieve: RowSieve = {
      keeps,
      wanted: (fold) => (all ? { ...wanted(fold), has: () => true } : wanted(fold)),
    }
    const rows: unknown[] = []
    for await (const { recording: _, record, ...row } of mergedRows(loaded.recordings, sieve))
      rows.push({ ...row, type: record.type })
    return rows
  } finally {
    await loaded.close()
  }
}

describe('a filter', () => {
  const everyKind = join(fixtures, 'every-kind.jsonl')
  it.each([
    ['of a file of lines without times', ['untimed.jsonl']],
    ['of one in which some lines say when they were', ['timed.jsonl']],
    ['of one in which a line is broken', ['broken.jsonl']],
    ['of a tape with rows of every kind', [everyKind]],
    ['of several recordings', ['timed.jsonl', everyKind]],
  ])('lists what it would list if everything were read twice: %s', async (_, files) => {
    for (const filter of filters)
      expect({ filter, rows: await listed(files, filter, false) }).toEqual({
        filter,
        rows: await listed(files, filter, true),
      })
  })

  it('knows what an answer answers that something else leads to', async () => {
    const id = (n: number): string => `0000000${n}-1111-4111-8111-000000000000`
    const line = (n: number, dir: string, raw: object, more: object = {}): object => ({
      t: `2026-08-01T00:00:0${n}.000Z`,
      dir,
      raw: { jsonrpc: '2.0', ...raw },
      id: id(n),
      seq: n,
      us: n,
      ...more,
    })
    const tape = [
      {
        v: 1,
        type: 'meta',
        startedAt: '2026-08-01T00:00:00.000Z',
        label: 'l',
        command: [],
        wiretape: identity,
      },
      line(0, 'in', { id: 1, method: 'tools/call', params: { name: 'pay' } }),
      line(1, 'out', { id: 1, result: { text: 'word' } }, { corr: id(0) }),
      line(
        2,
        'out',
        { method: 'notifications/progress', params: {} },
        { linked: [{ kind: 'progress', to: id(1) }] },
      ),
    ]
    writeFileSync(join(folder, 'linked.jsonl'), tape.map((each) => `${JSON.stringify(each)}\n`).join(''))
    expect(await listed(['linked.jsonl'], 'word -tool:pay', false)).toEqual([])
  })

  it('reads again only what it may want', async () => {
    const maker = await prepareSieve('tool:search status:error')
    const { recordings, close } = await loadRecordings(['untimed.jsonl'], folder, maker.watch)
    const { wanted } = maker.make(recordings.map(({ fold }) => fold))
    const { has } = wanted(recordings[0]!.fold)
    let records = 0
    for await (const record of recordings[0]!.records(undefined, has))
      if (record.type === 'message') records += 1
    const rows = await listed(['untimed.jsonl'], 'tool:search status:error', true)
    expect(rows.length).toBeGreaterThan(10)
    // Requests and answers of failed searches, and no other message.
    expect(records).toBe(rows.length)
    await close()
  })
})
