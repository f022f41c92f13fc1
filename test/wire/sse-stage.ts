import { SseParser, type SseEvent } from '../../src/wire/index.js'

const encoder = new TextEncoder()
export const toBytes = (text: string | Uint8Array): Uint8Array =>
  typeof text === 'string' ? encoder.encode(text) : text

/** The events of a whole stream that comes in these chunks. */
export function parse(chunks: readonly (string | Uint8Array)[], maxBytes = 1_000_000): SseEvent[] {
  const parser = new SseParser({ maxBytes })
  const pushed = chunks.flatMap((chunk) => parser.push(toBytes(chunk)))
  return [...pushed, ...parser.end()]
}
