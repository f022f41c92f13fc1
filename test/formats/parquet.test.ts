import { assert, asyncProperty } from 'fast-check'
import { parquetReadObjects } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { tellRecords, type ToldMessage } from '../../src/formats/told/told.js'
import type { TapeRecord } from '../../src/model/index.js'
import { sessions } from './codec-sessions.js'
import { adopted, recordingOf, write } from './codec-stage.js'
import { recordsOf } from './session-json-stage.js'

type Row = Record<string, unknown>

/** The table, read by another maker's reader. */
async function rowsOf(records: readonly TapeRecord[]): Promise<Row[]> {
  const { bytes } = await write('parquet', records)
  return parquetReadObjects({ file: Uint8Array.from(bytes).buffer })
}

const lines = [
  '{"type":"meta","v":1,"startedAt":"2026-08-01T10:00:00.000Z","label":"shop","command":["x"]}',
  '{"t":"2026-08-01T10:00:00.001Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}',
  '{"t":"2026-08-01T10:00:00.002Z","dir":"in","raw":{"jsonrpc":"2.0", "id":2,"method":"tools/call","params":{"name":"search","arguments":{"n":1.0}}}}',
  '{"type":"stderr","t":"2026-08-01T10:00:00.003Z","text":"oops"}',
  '{"t":"2026-08-01T10:00:00.012Z","dir":"out","raw":{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true}}}',
]

describe('parquet', () => {
  it('has a row a message with what it is about, and exact payloads', async () => {
    const rows = await rowsOf(await adopted(recordsOf(lines)))
    expect(rows).toMatchObject([
      {
        seq: 0,
        kind: 'request',
        method: 'initialize',
        label: 'shop',
        client: 'c 1',
        is_error: null,
        tool: null,
      },
      {
        seq: 1,
        kind: 'request',
        tool: 'search',
        client: 'c 1',
        payload:
          '{"jsonrpc":"2.0", "id":2,"method":"tools/call","params":{"name":"search","arguments":{"n":1.0}}}',
      },
      { seq: null, kind: 'stderr', payload: 'oops' },
      { seq: 2, kind: 'result', tool: 'search', answers: 1, latency_ms: 10, is_error: true },
    ])
    expect(rows[3]!['time']).toEqual(new Date('2026-08-01T10:00:00.012Z'))
  })

  it('is a table without rows where the recording has no messages', async () => {
    expect(await rowsOf(await adopted(recordsOf(lines.slice(0, 1))))).toEqual([])
  })

  it('holds every message of every recording', async () => {
    await assert(
      asyncProperty(sessions(), async (records) => {
        const told: ToldMessage[] = []
        for await (const one of tellRecords(recordingOf(records))) if (one.kind === 'message') told.push(one)
        const rows = (await rowsOf(records)).filter(({ seq }) => seq !== null)
        expect(rows.map(({ seq, payload, kind }) => ({ seq, payload, kind }))).toEqual(
          told.map(({ seq, text, part }) => ({ seq, payload: text, kind: part.envelope.kind })),
        )
      }),
      { numRuns: 50 },
    )
  })
})
