import { answersMethod, JsonObject } from '../../wire/index.js'
import { isServersMethod } from '../foreign/directions.js'
import { compactText, hasPlainNumbers, isPrintedWhole, printedText } from './compact.js'
import { isInteger, numberText } from './number-text.js'
import type { Side, SourceMessage } from './source-message.js'
import type { Profile } from './profile.js'
import { isObject, parsedOf, type Loose } from './strict-json.js'
import { lacksId, strictRefusal, typedKey } from './strict-message.js'
import type { Stamp, Meaning } from './meaning.js'

/** One message of a transcript. */
export interface TranscriptMessage {
  readonly meaning: Meaning
  /** In the form that importers compare: a number as its text. */
  readonly id: string | undefined
  /** Key to match responses: the id, in the strict profile with its type; some numbers have none. */
  readonly key: string | undefined
  readonly stamp: Stamp | undefined
  /** The sender, where the position shows it. */
  readonly side: Side | undefined
  /** The requested method of a server, or the one that a result of its shape answers. */
  readonly serversMethod: string | undefined
  /** Name of the tool of a `tools/call`. */
  readonly tool: string
  /** It has content defined by JSON-RPC. */
  readonly isUnderstood: boolean
  /** Compact JSON text of a call's arguments, of a result or of an error; computed on demand. */
  payload(): string
  /** For a list of tools: the parts that importers keep. */
  toolList(): string
}

/** A message, or the reason why it makes the file invalid. */
export type MessageOutcome = TranscriptMessage | { readonly refusal: string }

/** @param number of its line, entry or element */
export function readTranscriptMessage(
  { text, stamp, side }: SourceMessage,
  number: number,
  profile: Profile,
): MessageOutcome {
  const value = parsedOf(text)!.value
  if (!isObject(value)) return { refusal: `MCP event at source line ${number} must be a JSON object` }
  const isPlain = hasPlainNumbers(text)
  let exact: JsonObject | undefined
  const raw = (name: string): string | undefined =>
    (exact ??= new JsonObject(text, text.indexOf('{'))).raw(name)

  const isStrict = profile === 'strict'
  const refusedBefore = isStrict ? strictRefusal(value, number, raw) : undefined
  if (refusedBefore !== undefined) return { refusal: refusedBefore }
  const refusal = idRefusal(value['id'])
  if (refusal !== undefined) {
    return { refusal: `JSON-RPC id on source line ${number} must not be ${refusal}` }
  }
  const meaning = meaningOf(value)
  if (isStrict && lacksId(value, meaning)) {
    return { refusal: `JSON-RPC id on source line ${number} must be a string or a number` }
  }
  const id =
    typeof value['id'] === 'number' ? (isPlain ? String(value['id']) : numberText(raw('id')!)) : idOf(value)
  const { params } = value
  const name = isObject(params) ? params['name'] : undefined
  return {
    meaning,
    side,
    id,
    key: isStrict ? typedKey(value['id'], id) : id,
    stamp: stamp ?? (isPlain ? plainStamp(value) : exactStamp(raw)),
    serversMethod: serversMethodOf(value, meaning),
    tool: typeof name === 'string' ? name : 'unknown_tool',
    isUnderstood: meaning !== 'none' || /"(?:method|result|error)"\s*:/.test(text),
    payload() {
      const exact = exactPayload(raw, meaning)
      if (isPrintedWhole(text, value)) return exact
      return isPlain ? printedText(exact, payloadOf(value, meaning) ?? null) : compactText(exact)
    },
    toolList: () => toolsText(raw('result')!),
  }
}

function idRefusal(id: unknown): string | undefined {
  if (typeof id === 'boolean') return 'a boolean'
  if (Array.isArray(id)) return 'an array'
  return isObject(id) ? 'an object' : undefined
}

function idOf(value: Loose): string | undefined {
  const { id } = value
  return typeof id === 'string' ? id : undefined
}

function meaningOf(value: Loose): Meaning {
  const { method } = value
  if (typeof method === 'string') {
    if (method === 'tools/list') return 'list'
    if (method === 'tools/call') return 'call'
    return value['id'] === undefined || value['id'] === null ? 'notification' : 'other-request'
  }
  if (Object.hasOwn(value, 'result')) {
    const { result } = value
    return isObject(result) && Array.isArray(result['tools']) ? 'tools' : 'result'
  }
  return Object.hasOwn(value, 'error') ? 'error' : 'none'
}

function serversMethodOf({ method, result }: Loose, meaning: Meaning): string | undefined {
  if (meaning === 'other-request') return isServersMethod(String(method)) ? String(method) : undefined
  return meaning === 'result' && isObject(result)
    ? answersMethod((name) => Object.hasOwn(result, name))
    : undefined
}

function plainStamp(value: Loose): number | undefined {
  return [value['timestamp_ms'], value['timestamp']].find(isStamp)
}

function isStamp(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0
}

function exactStamp(raw: (name: string) => string | undefined): Stamp | undefined {
  for (const name of ['timestamp_ms', 'timestamp']) {
    const stamp = stampOf(raw(name))
    if (stamp !== undefined) return stamp
  }
  return undefined
}

/** An unsigned 64-bit integer, given as JSON text. */
export function stampOf(text: string | undefined): Stamp | undefined {
  if (text === undefined || text.startsWith('-') || !isInteger(text)) return undefined
  return text.length < 16 ? Number(text) : BigInt(text)
}

function payloadOf(value: Loose, meaning: Meaning): unknown {
  if (meaning === 'call') return isObject(value['params']) ? value['params']['arguments'] : undefined
  return meaning === 'error' ? value['error'] : value['result']
}

function exactPayload(raw: (name: string) => string | undefined, meaning: Meaning): string {
  if (meaning !== 'call') return raw(meaning === 'error' ? 'error' : 'result') ?? 'null'
  const params = raw('params') ?? 'null'
  return (params.startsWith('{') ? new JsonObject(params, 0).raw('arguments') : undefined) ?? 'null'
}

/** The tools of a result with a `tools` array, each with the parts that importers keep. */
function toolsText(result: string): string {
  const tools = new JsonObject(result, 0).objects('tools').map((tool) => {
    const schema = tool?.raw('inputSchema') ?? tool?.raw('input_schema') ?? 'null'
    const members = [
      `"name":${JSON.stringify(tool?.string('name') ?? 'unknown')}`,
      `"description":${JSON.stringify(tool?.string('description') ?? null)}`,
      `"input_schema":${compactText(schema)}`,
      '"tool_identity":null',
    ]
    return `{${members.join(',')}}`
  })
  return `{"tools":[${tools.join(',')}]}`
}
