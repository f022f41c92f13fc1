import type { Format } from '../../src/formats/index.js'

/** Formats without an extension of their own that have one JSON text per line. */
const ofLines = new Set(['jsonrpc', 'assay-trace'])

/** The file extension of a format: `.har`, `.inspector.json`, `.otlp-proto.pb`. */
export function endingOf({ id, extension }: Pick<Format, 'id' | 'extension'>): string {
  return extension ?? `.${id}.${ofLines.has(id) ? 'jsonl' : id.endsWith('-proto') ? 'pb' : 'json'}`
}
