import { seekMembers, type Sought } from './json-seek.js'
import { elementsOf, kindAt, type Span } from './json-text.js'

/** Messages of one batch that are looked at one by one. MCP batches (2025-03-26) hold a handful. */
const longestBatch = 10_000

/** What one frame of JSON holds. */
export interface FrameParts {
  /** True when the frame is an array of messages. */
  readonly batch: boolean
  /** At least one, in the order of the text. A batch beyond all reason counts as one. */
  readonly parts: readonly Span[]
}

/** The messages in a checked JSON text that has no white space around it. */
export function partsOf(raw: string): FrameParts {
  const whole = { start: 0, end: raw.length }
  if (kindAt(raw, 0) !== 'array') return { batch: false, parts: [whole] }
  const elements = elementsOf(raw, 0, longestBatch + 1)
  return { batch: true, parts: elements.length === 0 || elements.length > longestBatch ? [whole] : elements }
}

/** A JSON-RPC message or a batch of them, as far as the outermost shape tells. */
export function holdsMessages(text: string, start: number): boolean {
  const kind = kindAt(text, start)
  if (kind === 'object') return true
  if (kind !== 'array') return false
  const [first] = elementsOf(text, start, 1)
  return first !== undefined && kindAt(text, first.start) === 'object'
}

const version: Sought = new Map([['jsonrpc', null]])

/** Other JSON than JSON-RPC is common over HTTP: OAuth, health checks, errors of gateways. */
export function speaksJsonRpc(text: string, start: number): boolean {
  return text.charAt(start) === '{' && seekMembers(text, start, version).length > 0
}
