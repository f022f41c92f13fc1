import {
  createMirroredTools,
  encodedHeader,
  JsonObject,
  mirroredValue,
  namedMethods,
} from '../../wire/index.js'
import type { BridgedMessage } from './message-lines.js'

/** Headers that 2026-07-28 derives from the body of a request. */
export interface MirroredHeaders {
  /** Remembers which arguments of which tools are mirrored, from an answer to tools/list. */
  learn(message: BridgedMessage): void
  of(message: BridgedMessage): [name: string, value: string][]
}

export function createMirroredHeaders(): MirroredHeaders {
  const tools = createMirroredTools()
  return {
    learn({ text, envelope }) {
      if (envelope.kind === 'result') tools.learn(text)
    },
    of({ text, envelope }) {
      const { protocolVersion, method, subject } = envelope
      if (!envelope.modern || protocolVersion === undefined || method === undefined) return []
      const headers: [string, string][] = [
        ['MCP-Protocol-Version', protocolVersion],
        ['Mcp-Method', encodedHeader(method)],
      ]
      if (subject !== undefined && namedMethods.test(method))
        headers.push(['Mcp-Name', encodedHeader(subject)])
      if (method !== 'tools/call') return headers
      const given = new JsonObject(text, 0).object('params')?.object('arguments')
      for (const { header, path } of tools.of(subject ?? '') ?? []) {
        const value = mirroredValue(given, path)
        if (value !== undefined) headers.push([`Mcp-Param-${header}`, encodedHeader(value)])
      }
      return headers
    },
  }
}

/** What such a header says; undefined when it is not written as it must be. */
export function decodedHeader(value: string): string | undefined {
  const coded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  if (coded !== undefined) {
    const bytes = Buffer.from(coded, 'base64')
    return bytes.toString('base64') === coded ? bytes.toString('utf8') : undefined
  }
  return /^[\x20-\x7e\t]*$/.test(value) ? value : undefined
}
