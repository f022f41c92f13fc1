/** A request that HTTP turned away is sent again under its id: the answer to the second is not in doubt. */
import { describe, expect, it } from 'vitest'
import type { TapeRecord } from '../../src/model/index.js'
import { createFold } from '../../src/model/index.js'
import { idKey } from '../../src/wire/index.js'
import { adopted, read, spoken, throughTape, write } from './codec-stage.js'
import { recordsOf } from './session-json-stage.js'

const ask = '{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"a"}}'
const answer = '{"jsonrpc":"2.0","id":0,"result":{}}'
const at = (second: number): string => `2026-08-01T10:00:0${second}.000Z`
const meta = (transport: string, url: string | null): string =>
  `{"v":1,"type":"meta","startedAt":"${at(0)}","label":"s","command":[],"wiretape":{"version":"0.1.0","session":"s","transport":"${transport}","url":${JSON.stringify(url)},"segment":0,"redaction":"none","metadata":{}}}`
const end = `{"t":"${at(9)}","type":"end","exitCode":0,"durationMs":9000}`
const line = (second: number, dir: string, raw: string, more: string): string =>
  `{"t":"${at(second)}","dir":"${dir}","raw":${raw},"us":${second}000000,${more}}`

const http = recordsOf([
  meta('streamable-http', 'http://127.0.0.1:1/mcp'),
  line(1, 'in', ask, '"id":"a","seq":0,"http":{"exchange":0,"method":"POST","path":"/mcp"}'),
  `{"type":"http","t":"${at(2)}","us":2000000,"exchange":0,"method":"POST","path":"/mcp","status":401,"body":"no"}`,
  `{"type":"http","t":"${at(3)}","us":3000000,"exchange":1,"method":"POST","path":"http://127.0.0.1:2/token?x=1","status":200,"requestBody":"a=b","body":"{}"}`,
  line(4, 'in', ask, '"id":"b","dup":"a","seq":1,"http":{"exchange":2,"method":"POST","path":"/mcp"}'),
  line(5, 'out', answer, '"id":"c","corr":"b","seq":2,"http":{"exchange":2,"status":200}'),
  end,
])
const stdio = recordsOf([
  meta('stdio', null),
  line(1, 'in', ask, '"id":"a","seq":0'),
  line(4, 'in', ask, '"id":"b","dup":"a","seq":1'),
  line(5, 'out', answer, '"id":"c","corr":"b","seq":2'),
  end,
])
const said = [`> ${ask}`, `> ${ask}`, `< #1 ${answer}`]

/** The request of each response, as `inspect` shows it. */
function folded(records: readonly TapeRecord[]): (number | undefined)[] {
  const fold = createFold(idKey)
  const { entries } = fold
  const rows = records.flatMap((record) => {
    const { first, count } = fold.push(record)
    return record.type === 'message' ? Array.from({ length: count }, (_, i) => first + i) : []
  })
  return rows.map((row) => {
    const peer = entries.peer(row)
    return entries.kind(row) === 'request' || peer < 0 ? undefined : rows.indexOf(peer)
  })
}

describe('the answer to the second one', () => {
  it.each([
    ['har', 'over HTTP', http],
    ['har', 'on stdio', stdio],
    ['inspector', 'over HTTP', http],
    ['inspector', 'on stdio', stdio],
  ] as const)('is its answer in %s, %s', async (id, _, records) => {
    const { records: back } = await read(id, (await write(id, records)).text)
    expect(await spoken(back)).toEqual(said)
    expect(folded(back)).toEqual([undefined, undefined, 1])
  })

  it('is its answer on a tape made of an archive', async () => {
    const { records: back } = await read('har', (await write('har', http)).text)
    expect(folded(throughTape(back))).toEqual([undefined, undefined, 1])
  })

  it('is not known among bare messages, which is said', async () => {
    const { text, said: losses } = await write('jsonrpc', stdio)
    expect(losses).toContain('matches of responses to requests that share an id are left out: 1')
    expect(await spoken((await read('jsonrpc', text)).records)).toEqual([said[0], said[1], `< ${answer}`])
  })

  it('is left alone in a transcript, in which nothing tells whose it is', async () => {
    const entries = [
      { request: JSON.parse(ask) },
      { request: JSON.parse(ask) },
      { response: JSON.parse(answer) },
    ]
    const { records } = await read(
      'streamable-http',
      JSON.stringify({ transport: 'streamable-http', entries }),
    )
    expect((await spoken(records)).at(-1)).toBe(`< ${answer}`)
  })
})

it('an answer is that of the request in its exchange, though it came on another stream before', async () => {
  const lines = [
    meta('streamable-http', 'http://127.0.0.1:1/mcp'),
    line(1, 'in', ask, '"http":{"exchange":0,"method":"POST","path":"/mcp"}'),
    line(2, 'out', answer, '"http":{"exchange":1,"status":200}'),
    line(3, 'out', answer, '"http":{"exchange":0,"status":200}'),
    end,
  ]
  const parts = (await adopted(recordsOf(lines))).flatMap((record) =>
    record.type === 'message' ? record.parts : [],
  )
  expect(parts.map(({ late = false }) => late)).toEqual([false, false, true])
  expect(parts.map(({ correlatedId }) => correlatedId)).toEqual([undefined, parts[0]!.id, parts[0]!.id])
})

it('two requests under one id in one body leave their answer alone', async () => {
  const lines = [
    meta('streamable-http', 'http://127.0.0.1:1/mcp'),
    line(1, 'in', `[${ask},${ask}]`, '"http":{"exchange":0,"method":"POST","path":"/mcp"}'),
    line(2, 'out', answer, '"http":{"exchange":0,"status":200}'),
    end,
  ]
  expect((await spoken(recordsOf(lines))).at(-1)).toBe(`< ${answer}`)
})

it('an archive of ours has what went to another origin, with its URL and its size', async () => {
  const { text } = await write('har', http)
  const { log } = JSON.parse(text) as { log: { entries: { request: { url: string } }[] } }
  expect(log.entries.map(({ request }) => request.url)).toEqual([
    'http://127.0.0.1:1/mcp',
    'http://127.0.0.1:2/token?x=1',
    'http://127.0.0.1:1/mcp',
  ])
  const { records, said: problems } = await read('har', text)
  expect(problems).toEqual([])
  expect(records.filter(({ type }) => type === 'http')).toMatchObject([
    { path: '/mcp', status: 401, body: 'no', sizeBytes: 2 },
    { path: 'http://127.0.0.1:2/token?x=1', status: 200, requestBody: 'a=b', body: '{}', sizeBytes: 2 },
  ])
})
