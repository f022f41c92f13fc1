/** Sessions as they happen: both directions, errors, notifications, batches, server-initiated requests, 2026 messages. */
import * as fc from 'fast-check'
import type { MessageRecord, MetaRecord, TapeRecord } from '../../src/model/index.js'
import { foreignMeta, foreignMessage } from '../../src/formats/foreign/records.js'

const value = fc.oneof(
  fc.json({ maxDepth: 2 }),
  fc.constantFrom(
    '12345678901234567890',
    '1.0',
    '-0',
    '1e3',
    '{"2":1,"1":2}',
    '"\\u00e9 😀 \\/ \u2028"',
    '"data: x\\n\\nevent: y"',
    '{"a":{"b":[]}}',
  ),
)
const modern =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}'

/** One request with its answer, or a notification. */
const turn = fc.record({
  from: fc.constantFrom('client', 'client', 'server'),
  kind: fc.constantFrom('call', 'error', 'unanswered', 'note', 'batch', 'modern', 'list'),
  args: value,
  out: value,
  gapMs: fc.nat(5),
  isText: fc.boolean(),
})

export interface SessionOptions {
  /** @default false */
  readonly http?: boolean
  readonly batches?: boolean
}

export function sessions({ http = false, batches = true }: SessionOptions = {}): fc.Arbitrary<TapeRecord[]> {
  return fc.array(turn, { minLength: 1, maxLength: 8 }).map((turns) => {
    let ms = Date.parse('2026-08-01T10:00:00.000Z')
    const transport = http ? 'streamable-http' : 'stdio'
    const url = http ? 'https://example.com/mcp?x=1' : undefined
    const meta: MetaRecord = foreignMeta({
      startedAt: new Date(ms).toISOString(),
      transport,
      url,
      label: 'x',
    })
    const records: TapeRecord[] = [meta]
    const say = (fromClient: boolean, text: string, exchange: number, sse: boolean): void => {
      const isFirst = !records.some((record) => record.type === 'http' && record.exchange === exchange)
      const t = new Date(ms).toISOString()
      const direction = fromClient ? 'client_to_server' : 'server_to_client'
      const context: Partial<Pick<MessageRecord, 'http' | 'sse'>> = http
        ? fromClient
          ? {
              http: {
                exchange,
                method: 'POST',
                path: '/mcp?x=1',
                headers: [['content-type', 'application/json']],
              },
            }
          : {
              http: {
                exchange,
                status: 200,
                ...(isFirst && {
                  headers: [['content-type', sse ? 'text/event-stream' : 'application/json']],
                }),
              },
              ...(sse && { sse: { event: 'message', id: `e${exchange}` } }),
            }
        : {}
      records.push(foreignMessage(text, { t, direction, ...context }))
    }
    for (const [i, { from, kind, args, out, gapMs, isText }] of turns.entries()) {
      const isClient = from === 'client'
      // Requests of the server come in a stream; the client's response to them is an exchange of its own.
      const asked = 2 * i
      const answered = isClient ? asked : asked + 1
      const id = isText ? `"id-${i}"` : String(i + 1)
      const method = isClient ? 'tools/call' : 'sampling/createMessage'
      const params = `"params":{${kind === 'modern' ? `${modern},` : ''}"name":"t${i}","arguments":${args}}`
      const ask = `{"jsonrpc":"2.0","id":${id},"method":"${kind === 'list' && isClient ? 'tools/list' : method}",${params}}`
      const answer =
        kind === 'error'
          ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":"no","data":${out}}}`
          : `{"jsonrpc":"2.0","id":${id},"result":${kind === 'list' ? `{"tools":[{"name":"a","x":${out}}]}` : out}}`
      ms += gapMs
      if (http && !isClient) {
        const headers = [['content-type', 'text/event-stream']] as const
        const about = { exchange: asked, method: 'GET', path: '/mcp?x=1', status: 200, headers }
        records.push({ type: 'http', t: new Date(ms).toISOString(), ...about })
      }
      if (kind === 'note') {
        const note = isClient ? 'notifications/initialized' : 'notifications/message'
        say(isClient, `{"jsonrpc":"2.0","method":"${note}","params":{"x":${args}}}`, asked, !isClient)
        continue
      }
      const isBatch = kind === 'batch' && batches
      say(
        isClient,
        isBatch ? `[${ask}, {"jsonrpc":"2.0","method":"notifications/initialized"}]` : ask,
        asked,
        !isClient,
      )
      if (kind === 'unanswered') continue
      ms += gapMs
      say(!isClient, isBatch ? `[ ${answer}]` : answer, answered, isText)
    }
    records.push({ type: 'end', t: new Date(ms).toISOString(), exitCode: null, durationMs: null })
    return records
  })
}
