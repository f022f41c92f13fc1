import type { MessageRecord, Part, Report } from '../../model/index.js'
import { adopt } from '../adopt.js'
import { findAnswered } from '../foreign/answered.js'
import type { Recording } from '../format.js'
import { createLosses } from '../losses.js'
import { textChunks } from '../text-chunks.js'
import { longestMessage } from '../../wire/index.js'

/** Characters of entries that may wait for the response of an earlier one. */
const mostWaiting = longestMessage

interface Entry {
  readonly id: string
  readonly head: string
  readonly message: string
  readonly sentMs: number
  response?: { readonly text: string; readonly ms: number }
  waits: boolean
}

/**
 * The protocol export of MCP Inspector: an array with an entry per message, and responses inside the entries of
 * their requests. Messages are included as their exact text.
 */
export function writeProtocol(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  return textChunks(textOf(adopt(recording, { links: false }), report), recording)
}

async function* textOf(recording: Recording, report: Report): AsyncGenerator<string, void, undefined> {
  const losses = createLosses(report)
  const isAnswered = await findAnswered(recording)
  const queue = new Map<string, Entry>()
  let waiting = 0
  let index = 0
  let last: { ms: number; id: string | undefined } = { ms: -Infinity, id: undefined }
  let separator = '[\n'

  function* flush(all: boolean): Generator<string> {
    for (const [key, entry] of queue) {
      if (entry.waits && !all && waiting <= mostWaiting) return
      queue.delete(key)
      waiting -= entry.message.length + (entry.response?.text.length ?? 0)
      yield `${separator}${entryText(entry)}`
      separator = ',\n'
    }
  }

  let startedAt: string | undefined
  for await (const record of recording.records()) {
    if (record.type === 'meta') startedAt ??= record.startedAt
    if (record.type !== 'message') {
      losses.record(record)
      continue
    }
    if (record.batch) losses.add('batches are written message by message')
    losses.marks(record)
    losses.links(record)
    losses.conversation(record)
    losses.micros(record)
    losses.times(record, startedAt)
    if (record.http || record.sse)
      losses.add('HTTP and SSE data of messages is left out', record.parts.length)
    for (const part of record.parts) {
      const text = record.raw.slice(part.start, part.end)
      const ms = Date.parse(record.t)
      const request = part.correlatedId === undefined || part.late ? undefined : queue.get(part.correlatedId)
      waiting += text.length
      // Readers place a response by its time, after all messages with the same time.
      const isTied = request?.waits === true && ms === last.ms && last.id !== part.correlatedId
      if (ms < last.ms || isTied)
        losses.add('the order of messages with equal or decreasing times is left out')
      last = { ms, id: part.id }
      if (request?.waits) {
        request.response = { text, ms }
        request.waits = false
      } else queue.set(part.id!, entryOf(record, part, text, isAnswered(index)))
      index += 1
      yield* flush(false)
    }
  }
  yield* flush(true)
  yield separator === '[\n' ? '[]' : '\n]'
  losses.tell()
}

function entryOf(record: MessageRecord, part: Part, message: string, waits: boolean): Entry {
  const { envelope } = part
  const isAnswer = envelope.method === undefined
  const kind = isAnswer ? 'response' : envelope.id === undefined ? 'notification' : 'request'
  const origin = record.direction === 'client_to_server' ? 'client' : 'server'
  const lines = [
    `    "id": ${JSON.stringify(part.id)}`,
    `    "timestamp": ${JSON.stringify(record.t)}`,
    `    "direction": "${kind}"`,
    `    "origin": "${origin}"`,
  ]
  return { id: part.id!, head: lines.join(',\n'), message, sentMs: Date.parse(record.t), waits }
}

function entryText({ head, message, response, sentMs }: Entry): string {
  const lines = [head, `    "message": ${message}`]
  if (response) {
    const durationMs = response.ms - sentMs
    lines.push(`    "response": ${response.text}`)
    if (Number.isFinite(durationMs)) lines.push(`    "duration": ${Math.max(0, durationMs)}`)
  }
  return `  {\n${lines.join(',\n')}\n  }`
}
