import { opposite, type MessageRecord, type Part } from '../../model/index.js'
import { exactId, idName } from './id-name.js'
import type { Reading } from './message-rules.js'

/** Takes the messages to be written, in order. */
export interface OpenIds {
  /** The reason why a message must be omitted; if undefined, the message counts as written. */
  refusal(record: MessageRecord, part: Part, reading: Reading): string | undefined
}

interface OpenRequest {
  /** Its JSON-RPC id. */
  readonly exact: string
  /** Its `proxyId`. */
  readonly id: string | undefined
  readonly answeredBy: MessageRecord['direction']
  readonly conversation: string | undefined
}

/**
 * MCP separates the ids of the two sides and of several clients; readers of transcripts do not. They refuse a
 * request whose id is open, and some of them a second `tools/call` under one id, where `1` equals `"1"`. They
 * match every response to the open request under its id. So a transcript holds at most one open request per
 * id, only one call per id ever, and no response without its request.
 */
export function createOpenIds(): OpenIds {
  const open = new Map<string, OpenRequest>()
  const called = new Set<string>()
  /** `proxyId` of the omitted requests. */
  const leftOut = new Set<string>()

  function requestRefusal(name: string, method: string | undefined): string | undefined {
    if (open.has(name))
      return 'another request with its id is open, and the format does not separate the ids of client and server'
    if (method === 'tools/call' && called.has(name)) return 'an earlier tools/call has the same id'
    return undefined
  }

  function answerRefusal(
    idText: string,
    { direction, conversation }: MessageRecord,
    part: Part,
  ): string | undefined {
    const { correlatedId } = part
    if (correlatedId !== undefined && leftOut.has(correlatedId)) return 'its request is left out'
    const request = open.get(idName(idText))
    if (!request) return undefined
    const isOurs =
      correlatedId !== undefined && request.id !== undefined
        ? correlatedId === request.id
        : request.answeredBy === direction && request.conversation === conversation
    const answers = isOurs && request.exact === exactId(idText)
    return answers ? undefined : 'readers would match it to another open request with its id'
  }

  function refusal(record: MessageRecord, part: Part, reading: Reading): string | undefined {
    if ('refusal' in reading || reading.id === undefined) {
      if ('refusal' in reading && part.id !== undefined) leftOut.add(part.id)
      return 'refusal' in reading ? reading.refusal : undefined
    }
    const name = idName(reading.id)
    if (reading.kind === 'answer') {
      const reason = answerRefusal(reading.id, record, part)
      if (reason === undefined) open.delete(name)
      return reason
    }
    const reason = requestRefusal(name, reading.method)
    if (reason !== undefined) {
      if (part.id !== undefined) leftOut.add(part.id)
      return reason
    }
    const { direction, conversation } = record
    open.set(name, { exact: exactId(reading.id), id: part.id, answeredBy: opposite(direction), conversation })
    if (reading.method === 'tools/call') called.add(name)
    return undefined
  }

  return { refusal }
}
