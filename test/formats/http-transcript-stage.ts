/** Recordings for transcripts, and what importers make of these. */
import { expect } from 'vitest'
import { formats } from '../../src/formats/index.js'
import type { HttpRecord, MessageRecord, TapeRecord } from '../../src/model/index.js'
import { partsOf, readEnvelope } from '../../src/wire/index.js'
import { importTranscript, type Imported } from './http-transcript-reader.js'

export type Transport = 'streamable-http' | 'http-sse'
export const transports: readonly Transport[] = ['streamable-http', 'http-sse']
export async function write(
  records: readonly TapeRecord[],
  to: Transport,
): Promise<{ text: string; said: string[] }> {
  const said: string[] = []
  const parts: Uint8Array[] = []
  const recording = {
    async *records(): AsyncGenerator<TapeRecord> {
      yield* records
    },
  }
  const format = formats.find(({ id }) => id === to)!
  for await (const chunk of format.write!(recording, ({ message }) => said.push(message))) parts.push(chunk)
  return { text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)), said }
}

/** Records that importers make of the transcript; both profiles must accept it. */
export async function imported(
  records: readonly TapeRecord[],
  to: Transport = 'streamable-http',
): Promise<Imported & { said: string[]; text: string }> {
  const written = await write(records, to)
  const strict = importTranscript(written.text, to, 'strict')
  expect(importTranscript(written.text, to, 'documented')).toEqual(strict)
  // The notice for every recording of HTTP.
  const usual = 'URLs and most HTTP headers are left out: '
  const isHttp = records.some((record) => record.type === 'message' && record.http)
  expect(written.said.some((line) => line.startsWith(usual))).toBe(isHttp)
  return { ...strict, ...written, said: written.said.filter((line) => !line.startsWith(usual)) }
}

let number = 0
export function message(
  direction: MessageRecord['direction'],
  raw: string,
  more: Partial<MessageRecord> = {},
): MessageRecord {
  const { batch, parts } = partsOf(raw)
  return {
    type: 'message',
    t: '2026-08-01T10:00:00.000Z',
    direction,
    raw,
    batch,
    parts: parts.map(({ start, end }) => ({
      id: `id-${(number += 1)}`,
      envelope: readEnvelope(raw, start),
      start,
      end,
    })),
    ...more,
  }
}
export const toServer = (raw: string, more?: Partial<MessageRecord>): MessageRecord =>
  message('client_to_server', raw, more)
export const toClient = (raw: string, more?: Partial<MessageRecord>): MessageRecord =>
  message('server_to_client', raw, more)

/** The answer to the last message. */
export function answered(request: MessageRecord, raw: string): [MessageRecord, MessageRecord] {
  const direction = request.direction === 'client_to_server' ? 'server_to_client' : 'client_to_server'
  const answer = message(direction, raw)
  const parts = answer.parts.map((part) => ({ ...part, correlatedId: request.parts[0]!.id! }))
  return [request, { ...answer, parts }]
}

export const call = (id: string, name = 'x'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}"}}`
export const result = (id: string, value = '{}'): string => `{"jsonrpc":"2.0","id":${id},"result":${value}}`

export function http(more: Partial<HttpRecord>): HttpRecord {
  const t = '2026-08-01T10:00:00.000Z'
  return { type: 'http', t, exchange: 0, method: 'POST', path: '/mcp', ...more }
}
