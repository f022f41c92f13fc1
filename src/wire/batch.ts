import { seekMembers, type Sought } from './json-seek.js'
import { elementsOf, kindAt, type Span } from './json-text.js'

/** Most messages of a batch that are read one by one. MCP batches (2025-03-26) hold a handful. */
const longestBatch = 10_000

/** The messages of one JSON frame. */
export interface FrameParts {
  /** Whether the frame is an array of messages. */
  readonly batch: boolean
  /** At least one, in text order. A batch of more than `longestBatch` messages counts as one. */
  readonly parts: readonly Span[]
}

/** Splits a checked JSON text without surrounding white space into messages. */
export function partsOf(raw: string): FrameParts {
  const whole = { start: 0, end: raw.length }
  if (kindAt(raw, 0) !== 'array') return { batch: false, parts: [whole] }
  const elements = elementsOf(raw, 0, longestBatch + 1)
  return { batch: true, parts: elements.length === 0 || elements.length > longestBatch ? [whole] : elements }
}

/** Whether a value looks like a message or a batch: an object, or an array that begins with one. */
export function holdsMessages(text: string, start: number): boolean {
  const kind = kindAt(text, start)
  if (kind === 'object') return true
  if (kind !== 'array') return false
  const [first] = elementsOf(text, start, 1)
  return first !== undefined && kindAt(text, first.start) === 'object'
}

const version: Sought = new Map([['jsonrpc', null]])

/** Whether an object has a member `jsonrpc`. Over HTTP, other JSON is common: OAuth, health checks, gateways. */
export function speaksJsonRpc(text: string, start: number): boolean {
  return text.charAt(start) === '{' && seekMembers(text, start, version).length > 0
}
