import {
  argumentHeaders,
  argumentsIn,
  createMirroredTools,
  standardHeaders,
  type McpHeader,
  type Message,
} from '../wire/index.js'

/** Headers that 2026-07-28 derives from the body of a request. */
export interface MirroredHeaders {
  /** Reads the mirrored arguments of tools from a tools/list response. */
  learn(message: Message): void
  of(message: Message): McpHeader[]
}

export function createMirroredHeaders(): MirroredHeaders {
  const tools = createMirroredTools()
  return {
    learn({ text, envelope }) {
      if (envelope.kind === 'result') tools.learn(text)
    },
    of({ text, envelope }) {
      if (!envelope.modern) return []
      const headers = standardHeaders(envelope)
      const wanted = envelope.method === 'tools/call' ? tools.of(envelope.subject ?? '') : undefined
      return wanted ? [...headers, ...argumentHeaders(wanted, argumentsIn(text))] : headers
    },
  }
}
