import { bytesOf } from '../../wire/index.js'
import type { Placed } from '../text-chunks.js'
import type { LentMessage } from '../trace-v1/index.js'
import type { EntryContext, EntryPlace } from './entry.js'
import { timeOf } from './plain-entry.js'

/** Longer entries are written in pieces. */
const longest = 1 << 16
/** Bytes besides the texts. */
const fixedBytes = 512
const words = {
  start: bytesOf('    {\n      "proxy_id": "'),
  sequence: bytesOf('",\n      "sequence": '),
  time: bytesOf(',\n      "timestamp": "'),
}

/**
 * Creates entries of messages for which a thread prepared the data that depends on no other message, as bytes:
 * recordings have millions. The same bytes as from `plainEntry`. Undefined for other messages, and long ones.
 */
export function createOpenEntries(
  context: EntryContext,
): (record: LentMessage, place: EntryPlace) => Placed | undefined {
  const from = (side: string): Uint8Array =>
    bytesOf(
      `",\n      "direction": "${side}",\n      "transport": "${context.transport}",\n      "jsonrpc_id": `,
    )
  /** The last time: many messages have the same one. */
  let [t, time] = ['', undefined as string | undefined]
  const sides = { client_to_server: from('client_to_server'), server_to_client: from('server_to_client') }

  return (record, place) => {
    const parts = record.openEntry
    const { proxyId, correlatedId } = place
    if (!parts || record.untimed || !isSimple(proxyId)) return undefined
    if (correlatedId !== undefined && !isSimple(correlatedId)) return undefined
    const mostBytes =
      fixedBytes + proxyId.length + (correlatedId?.length ?? 0) + parts[0].length + parts[1].length
    if (mostBytes > longest) return undefined
    if (record.t !== t) [t, time] = [record.t, timeOf(record, context, true)]
    if (time === undefined) return undefined
    return new OpenEntry(mostBytes, place, time, sides[record.direction], parts)
  }
}

class OpenEntry implements Placed {
  readonly mostBytes: number
  readonly #place: EntryPlace
  readonly #time: string
  readonly #side: Uint8Array
  readonly #parts: readonly [Uint8Array, Uint8Array]

  constructor(
    mostBytes: number,
    place: EntryPlace,
    time: string,
    side: Uint8Array,
    parts: readonly [Uint8Array, Uint8Array],
  ) {
    this.mostBytes = mostBytes
    this.#place = place
    this.#time = time
    this.#side = side
    this.#parts = parts
  }

  put(chunk: Uint8Array, start: number): number {
    const { proxyId, sequence, correlatedId } = this.#place
    const [call, rest] = this.#parts
    let at = copied(words.start, chunk, start)
    at = putText(proxyId, chunk, at)
    at = putText(`${sequence}`, chunk, copied(words.sequence, chunk, at))
    at = putText(this.#time, chunk, copied(words.time, chunk, at))
    at = copied(call, chunk, copied(this.#side, chunk, at))
    at = correlatedId === undefined ? putText('null', chunk, at) : putQuoted(correlatedId, chunk, at)
    chunk.set(rest, at)
    return at + rest.length
  }
}

/** Whether JSON has the text as it is, in ASCII. */
function isSimple(text: string): boolean {
  return /^[\w.:-]*$/.test(text)
}

function copied(source: Uint8Array, target: Uint8Array, at: number): number {
  target.set(source, at)
  return at + source.length
}

/** ASCII only. */
function putText(text: string, target: Uint8Array, at: number): number {
  for (let i = 0; i < text.length; i += 1) target[at + i] = text.charCodeAt(i)
  return at + text.length
}

function putQuoted(text: string, target: Uint8Array, at: number): number {
  target[at] = 0x22
  const end = putText(text, target, at + 1)
  target[end] = 0x22
  return end + 1
}
