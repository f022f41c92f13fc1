import {
  RecordingComparison,
  createRecordingIndex,
  plainSettings,
  type ComparedRecording,
  type ComparisonSummary,
  type CompareSettings,
  type ExchangeComparison,
} from '../../src/compare/index.js'
import { decodeLine } from '../../src/formats/index.js'
import type { MessageRecord } from '../../src/model/index.js'

/** A request and its result; without one, the request has no response. */
export interface Said {
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { code: number; message: string }
  /** Milliseconds until the answer. */
  readonly ms?: number
  /** Asked by the server. */
  readonly server?: true
  /** JSON Pointers into the request, to what redaction took out. */
  readonly red?: readonly string[]
  /** JSON Pointers into the answer, the same. */
  readonly redAnswer?: readonly string[]
}

/** A call of a tool, with the text of its result. */
export function call(name: string, args: unknown, text: unknown, more: object = {}): Said {
  const content = [{ type: 'text', text: typeof text === 'string' ? text : JSON.stringify(text) }]
  return { method: 'tools/call', params: { name, arguments: args }, result: { content, ...more } }
}

/** Text of a tape with these exchanges in order. */
export function tapeOf(said: readonly Said[]): string {
  const lines: unknown[] = [
    { v: 1, type: 'meta', startedAt: '2026-08-01T10:00:00.000Z', label: 'x', command: [] },
  ]
  let us = 0
  const marks = (red: readonly string[] | undefined): object =>
    red ? { red: red.map((at, i) => ({ at, tag: `t${i}` })) } : {}
  for (const [id, one] of said.entries()) {
    const { method = 'tools/call', params, result, error, ms = 1, server, red, redAnswer } = one
    const [asks, answers] = server ? ['out', 'in'] : ['in', 'out']
    const request = { jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) }
    lines.push({ t: '2026-08-01T10:00:00.000Z', us, dir: asks, raw: request, ...marks(red) })
    us += ms * 1000
    const answer = error ? { error } : result === undefined ? undefined : { result }
    if (answer)
      lines.push({
        t: '2026-08-01T10:00:00.000Z',
        us,
        dir: answers,
        raw: { jsonrpc: '2.0', id, ...answer },
        ...marks(redAnswer),
      })
    us += 1000
  }
  lines.push({ t: '2026-08-01T10:00:01.000Z', type: 'end', exitCode: 0, durationMs: 1000 })
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

export function recordingOf(tape: string): ComparedRecording {
  const indexer = createRecordingIndex()
  const records = tape
    .trimEnd()
    .split('\n')
    .map((line) => {
      const decoded = decodeLine(line)
      if ('fault' in decoded) throw new Error(decoded.fault.message)
      return decoded.record
    })
  for (const [i, record] of records.entries()) indexer.take(record, i)
  return { index: indexer.finish(), read: (locator) => Promise.resolve(records[locator] as MessageRecord) }
}

export async function compared(
  before: readonly Said[],
  after: readonly Said[],
  settings: CompareSettings = plainSettings,
): Promise<{ exchanges: ExchangeComparison[]; summary: ComparisonSummary }> {
  const comparison = new RecordingComparison(
    recordingOf(tapeOf(before)),
    recordingOf(tapeOf(after)),
    settings,
  )
  const exchanges: ExchangeComparison[] = []
  for await (const exchange of comparison.exchanges) exchanges.push(exchange)
  return { exchanges, summary: comparison.summary() }
}
