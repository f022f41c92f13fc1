import { isFault, findJsonValue, JsonObject, kindAt, onOneLine, type JsonPiece } from '../../wire/index.js'
import { readEnvelope } from '../../wire/index.js'
import type { EntryContext } from './entry.js'
import { parseMicros } from './time.js'

/** An entry of `messages` with everything that a message needs. */
export interface Entry {
  readonly object: JsonObject
  readonly proxyId: string
  readonly sequence: number
  readonly micros: number
  readonly direction: 'client_to_server' | 'server_to_client'
  /** JSON text on one line. */
  readonly payload: string
  readonly original: string | undefined
}

/** The readable parts of an element of `messages`, and its first problem. */
export interface DecodedEntry {
  readonly entry?: Entry
  readonly problem?: string
}

const requiredMembers = ['proxy_id', 'sequence', 'timestamp', 'direction', 'transport', 'payload']

/** @param number of the entry in `messages`, from 0 */
export function decodeEntry(piece: JsonPiece, number: number, context: EntryContext): DecodedEntry {
  if (piece.fault !== undefined) return { problem: `not valid JSON: ${piece.fault}` }
  const span = findJsonValue(piece.text)
  if (isFault(span)) return { problem: `not valid JSON: ${span.reason}` }
  if (kindAt(piece.text, span.start) !== 'object') return { problem: 'not an object' }
  const object = new JsonObject(piece.text, span.start)
  const missing = requiredMembers.filter((name) => !object.has(name))
  const lacking = missing.length === 0 ? undefined : `${listOf(missing)} missing`
  const direction = object.string('direction')
  if (direction !== 'client_to_server' && direction !== 'server_to_client') {
    const said = `"direction" is ${shortly(object.raw('direction'))}, neither "client_to_server" nor "server_to_client"`
    return { problem: lacking ?? said }
  }
  const payload = object.raw('payload')
  if (payload === undefined) return { problem: lacking! }
  const kind = kindAt(payload, 0)
  if (kind !== 'object' && kind !== 'array')
    return { problem: lacking ?? `"payload" is ${kind}, not a JSON-RPC message` }

  const micros = parseMicros(object.string('timestamp') ?? '')
  const sequence = object.number('sequence')
  const isSequence = Number.isSafeInteger(sequence) && sequence! >= 0
  const original = object.raw('original_payload')
  const isOriginal =
    original !== undefined && kindAt(original, 0) === 'object' && object.raw('modified') === 'true'
  const entry: Entry = {
    object,
    proxyId: object.string('proxy_id') ?? `msg-${String(number + 1).padStart(3, '0')}`,
    sequence: isSequence ? sequence! : number,
    micros: micros ?? context.startMicros,
    direction,
    payload: messageText(payload),
    original: isOriginal ? messageText(original) : undefined,
  }
  const problem = lacking ?? problemOf(entry, micros !== undefined, isSequence)
  return problem === undefined ? { entry } : { entry, problem }
}

/** On one line. A lone carriage return ends no line: a message on one line may contain it. */
function messageText(json: string): string {
  return json.includes('\n') ? onOneLine(json) : json
}

/** A problem of an entry that is readable nevertheless. */
function problemOf({ object, payload }: Entry, isTime: boolean, isSequence: boolean): string | undefined {
  if (object.string('proxy_id') === undefined) return '"proxy_id" is not a string'
  if (!isSequence) return '"sequence" is not an integer from 0'
  if (!isTime) return '"timestamp" is not an ISO 8601 time'
  if (!['stdio', 'sse', 'streamable-http'].includes(object.string('transport') ?? ''))
    return `"transport" is ${shortly(object.raw('transport'))}, not stdio, sse or streamable-http`
  const modified = object.raw('modified') ?? 'false'
  if (modified !== 'true' && modified !== 'false')
    return `"modified" is ${shortly(modified)}, not true or false`
  const original = object.raw('original_payload') ?? 'null'
  if (original !== 'null' && modified === 'false') return '"original_payload" needs "modified": true'
  if (original !== 'null' && kindAt(original, 0) !== 'object') return '"original_payload" is not an object'
  if (kindAt(payload, 0) === 'array') return '"payload" is an array, not one JSON-RPC message'
  const { problem } = readEnvelope(payload, 0)
  return problem === undefined ? undefined : `"payload" is not a JSON-RPC 2.0 message: ${problem}`
}

function shortly(json: string | undefined): string {
  return onOneLine(json ?? '').slice(0, 40)
}

function listOf(names: readonly string[]): string {
  return `${names.map((name) => `"${name}"`).join(', ')} ${names.length === 1 ? 'is' : 'are'}`
}
