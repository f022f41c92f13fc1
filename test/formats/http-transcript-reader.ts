import { Num, parseJson, show, type Json } from './exact-json.js'

/**
 * A model of importers of HTTP transcripts, by the letter of their documentation: the documented profile, and the
 * strict one that followed it. The first fault refuses the whole file.
 */
type Profile = 'documented' | 'strict'

interface Call {
  readonly name: string
  readonly id: string | undefined
  readonly args: string | undefined
  outcome: string
}

export interface Imported {
  /** Messages that were read. */
  readonly events: number
  readonly calls: readonly Call[]
  /** Ids of answers that found no open call. */
  readonly orphans: readonly string[]
  readonly discovery: { readonly resourceMetadata: boolean; readonly scope: boolean }
}

const listed =
  'completion/complete elicitation/create initialize logging/setLevel ping prompts/get prompts/list ' +
  'resources/list resources/read resources/subscribe resources/templates/list resources/unsubscribe roots/list ' +
  'sampling/createMessage server/discover subscriptions/listen tasks/cancel tasks/get tasks/list tasks/result ' +
  'tools/call tools/list'
const requests = new Set(listed.split(' '))

export function importTranscript(text: string, transport: string, profile: Profile): Imported {
  const strict = profile === 'strict'
  const document = parseJson(text, strict)
  if (!(document instanceof Map)) throw new Error('expected struct TransportTranscript')
  if (document.get('transport') !== transport) throw new Error(`transport must be ${transport}`)
  const entries = document.get('entries')
  if (!Array.isArray(entries)) throw new Error('expected a sequence')

  const messages: { message: Map<string, Json>; time: number; line: number }[] = []
  const discovery = { resourceMetadata: false, scope: false }
  for (const [i, entry] of entries.entries()) {
    const line = i + 1
    if (!(entry instanceof Map)) throw new Error('expected struct TransportTranscriptEntry')
    const slots = ['request', 'response', 'sse'].filter((name) => entry.has(name))
    if (slots.length !== 1) throw new Error(`entry ${line} must contain exactly one of`)
    const stamp = entry.get('timestamp_ms') ?? null
    if (stamp !== null && !(stamp instanceof Num && /^[0-9]+$/.test(stamp.text)))
      throw new Error('expected u64')
    const slot = slots[0]!
    const found = slot === 'sse' ? ofEvent(entry.get('sse')!, strict) : entry.get(slot)!
    if (found === undefined) continue
    if (!(found instanceof Map)) throw new Error(`MCP event at source line ${line} must be a JSON object`)
    check(found, line, strict)
    const own = [found.get('timestamp_ms'), found.get('timestamp')].find((value) => value instanceof Num)
    messages.push({ message: found, time: Number((stamp ?? own ?? new Num('0')).text), line })
    if (slot === 'response') promote(entry.get('transport_context'), discovery)
  }
  refuseOpenIds(
    messages.map(({ message }) => message),
    strict,
  )
  const sorted = messages.toSorted((a, b) => a.time - b.time || a.line - b.line)
  return { events: messages.length, discovery, ...pair(sorted.map(({ message }) => message)) }
}

function ofEvent(sse: Json, strict: boolean): Json | undefined {
  if (!(sse instanceof Map)) throw new Error('expected struct TransportSseEnvelope')
  for (const name of ['event', 'id']) {
    const value = sse.get(name) ?? null
    if (value !== null && typeof value !== 'string') throw new Error('expected a string')
  }
  let data = sse.get('data')
  if (data === undefined) throw new Error('missing field `data`')
  if ((sse.get('event') ?? 'message') !== 'message') return undefined
  while (typeof data === 'string') {
    try {
      data = parseJson(data, strict)
    } catch (error) {
      if (String(error).includes('duplicate')) throw new Error('invalid SSE data payload', { cause: error })
      return undefined
    }
  }
  if (!(data instanceof Map)) return undefined
  const members = data
  return ['method', 'result', 'error', 'jsonrpc'].some((name) => members.has(name)) ? data : undefined
}

function kindOf(message: Map<string, Json>): 'request' | 'notification' | 'answer' {
  const method = message.get('method')
  if (typeof method !== 'string') return 'answer'
  return message.has('id') || requests.has(method) ? 'request' : 'notification'
}

function check(message: Map<string, Json>, line: number, strict: boolean): void {
  const id = message.get('id')
  if (typeof id === 'boolean' || Array.isArray(id) || id instanceof Map)
    throw new Error(`JSON-RPC id on source line ${line} must not be`)
  if (!strict) return
  if (message.get('jsonrpc') !== '2.0')
    throw new Error(`event at source line ${line} must carry JSON-RPC version 2.0`)
  if (message.has('method') && typeof message.get('method') !== 'string')
    throw new Error('method must be a string')
  const kind = kindOf(message)
  const error = message.get('error')
  if (kind === 'answer') {
    if (message.has('result') === message.has('error')) throw new Error('exactly one of result or error')
    if (message.has('error')) {
      const code = error instanceof Map ? error.get('code') : undefined
      const isInteger = code instanceof Num && /^-?[0-9]+$/.test(code.text) && code.text !== '-0'
      const is64 = isInteger && BigInt(code.text) >= -(2n ** 63n) && BigInt(code.text) < 2n ** 64n
      if (!is64 || typeof (error as Map<string, Json>).get('message') !== 'string') {
        throw new Error('an integer code and string message')
      }
    }
  }
  const isId = typeof id === 'string' || id instanceof Num
  const mayLack = kind === 'notification' || (kind === 'answer' && message.has('error'))
  if (!isId && !mayLack) throw new Error(`JSON-RPC id on source line ${line} must be a string or a number`)
}

/** An id as the documented profile renders it. */
function idOf(message: Map<string, Json>): string | undefined {
  const id = message.get('id')
  if (typeof id === 'string') return id
  if (!(id instanceof Num)) return undefined
  return /^-?[0-9]+$/.test(id.text) && id.text !== '-0' ? id.text : rendered(Number(id.text))
}

function rendered(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? value.toFixed(1) : String(value)
}

function refuseOpenIds(messages: readonly Map<string, Json>[], strict: boolean): void {
  const open = new Set<string>()
  for (const message of messages) {
    const id = idOf(message)
    if (id === undefined) continue
    if (!strict) {
      if (message.get('method') !== 'tools/call') continue
      if (open.has(id)) throw new Error(`duplicate tools/call request id "${id}"`)
      open.add(id)
      continue
    }
    const key = `${typeof message.get('id')} ${id}`
    if (kindOf(message) === 'answer') open.delete(key)
    else if (open.has(key)) throw new Error('two outstanding JSON-RPC requests share an id')
    else open.add(key)
  }
}

function pair(messages: readonly Map<string, Json>[]): Pick<Imported, 'calls' | 'orphans'> {
  const calls: Call[] = []
  const orphans: string[] = []
  const pending = new Map<string, Call>()
  for (const message of messages) {
    const id = idOf(message)
    if (message.get('method') === 'tools/call') {
      const params = message.get('params')
      const name = params instanceof Map ? params.get('name') : undefined
      const args = params instanceof Map ? params.get('arguments') : undefined
      const call: Call = {
        name: typeof name === 'string' ? name : 'unknown_tool',
        id,
        args: args === undefined ? undefined : show(args),
        outcome: 'timeout',
      }
      calls.push(call)
      if (id !== undefined) pending.set(id, call)
    } else if (typeof message.get('method') !== 'string' && id !== undefined) {
      const call = pending.get(id)
      pending.delete(id)
      if (call) call.outcome = show(message.get('result') ?? message.get('error') ?? null)
      else orphans.push(id)
    }
  }
  return { calls, orphans }
}

function promote(context: Json | undefined, found: { resourceMetadata: boolean; scope: boolean }): void {
  if (!(context instanceof Map)) return
  const status = context.get('status')
  const headers = context.get('headers')
  if (!(status instanceof Num) || Number(status.text) !== 401 || !(headers instanceof Map)) return
  const [, value] = [...headers].find(([name]) => name.toLowerCase() === 'www-authenticate') ?? []
  if (typeof value !== 'string') return
  found.resourceMetadata ||= /(^|[ ,\t])resource_metadata=/.test(value.toLowerCase())
  found.scope ||= /(^|[ ,\t])scope=/.test(value.toLowerCase())
}
