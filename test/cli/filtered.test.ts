import { describe, expect, it } from 'vitest'
import { filteredRecording } from '../../src/cli/filtered.js'
import { createFold, type TapeRecord } from '../../src/model/index.js'
import { idKey } from '../../src/wire/index.js'
import { recordsOf } from '../formats/session-json-stage.js'

const at = (second: number): string => `2026-08-01T10:00:0${second}.000Z`
const line = (second: number, dir: string, raw: object, more: object): string =>
  JSON.stringify({
    t: at(second),
    dir,
    raw: { jsonrpc: '2.0', ...raw },
    us: second * 1e6,
    seq: second,
    ...more,
  })
const meta = (transport: string): string =>
  `{"v":1,"type":"meta","startedAt":"${at(0)}","label":"s","command":[],"wiretape":{"version":"0.1.0","session":"s","transport":"${transport}","url":null,"segment":0,"redaction":"none","metadata":{}}}`
const end = `{"t":"${at(9)}","type":"end","exitCode":0,"durationMs":9000}`
const call = { id: 1, method: 'tools/call', params: { name: 'slow' } }
const cancel = { method: 'notifications/cancelled', params: { requestId: 1 } }
const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }, name: 'slow' }

async function excerptOf(lines: readonly string[], filter: string): Promise<TapeRecord[]> {
  const recording = {
    async *records(): AsyncGenerator<TapeRecord> {
      yield* recordsOf(lines)
    },
  }
  const all: TapeRecord[] = []
  for await (const record of (await filteredRecording(recording, filter))(recording).records())
    all.push(record)
  return all
}

function countsOf(records: readonly TapeRecord[]): { cancelled: number; unanswered: number } {
  const fold = createFold(idKey)
  for (const record of records) fold.push(record)
  const { cancelled, unanswered } = fold.counts()
  return { cancelled, unanswered }
}

describe('an excerpt has what cancelled a request', () => {
  it.each([
    ['by a notification', { id: 'b', linked: [{ kind: 'cancel', to: 'a' }] }],
    ['by a notification on a tape of another tool', {}],
  ])('%s', async (_, more) => {
    const ids = 'id' in more ? { id: 'a' } : {}
    const lines = [
      meta('stdio'),
      line(1, 'in', call, ids),
      line(2, 'in', cancel, more),
      line(3, 'in', { method: 'notifications/initialized' }, 'id' in more ? { id: 'c' } : {}),
      end,
    ]
    const records = await excerptOf(lines, 'tool:slow')
    expect(records.filter(({ type }) => type === 'message')).toHaveLength(2)
    expect(countsOf(records)).toEqual({ cancelled: 1, unanswered: 0 })
  })

  it('by the end of its connection', async () => {
    const http = (exchange: number): object => ({ http: { exchange, method: 'POST', path: '/mcp' } })
    const closed = (exchange: number): string =>
      `{"type":"http","t":"${at(4)}","us":4000000,"exchange":${exchange},"method":"POST","path":"/mcp","status":200,"why":"client: closed the connection"}`
    const lines = [
      meta('streamable-http'),
      line(1, 'in', { ...call, params: modern }, { id: 'a', ...http(0) }),
      line(2, 'in', { id: 2, method: 'subscriptions/listen', params: modern }, { id: 'b', ...http(1) }),
      closed(0),
      closed(1),
      end,
    ]
    const records = await excerptOf(lines, 'tool:slow')
    expect(records.filter(({ type }) => type === 'http')).toMatchObject([{ exchange: 0 }])
    expect(countsOf(records)).toEqual({ cancelled: 1, unanswered: 0 })
  })
})
