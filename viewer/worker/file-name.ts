import type { Format } from '../../src/formats/index.js'

/** Formats without an extension of their own that are one JSON text a line. */
const ofLines = new Set(['jsonrpc', 'assay-trace'])

/** How a file of a format ends: `.har`, `.inspector.json`, `.otlp-proto.pb`. */
export function endingOf({ id, extension }: Pick<Format, 'id' | 'extension'>): string {
  return extension ?? `.${id}.${ofLines.has(id) ? 'jsonl' : id.endsWith('-proto') ? 'pb' : 'json'}`
}
