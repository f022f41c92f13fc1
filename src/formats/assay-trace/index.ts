import { envelopeSource } from './envelope-source.js'
import { inspectorSource } from './inspector-source.js'
import { linesSource } from './lines-source.js'
import type { TranscriptSource } from './source.js'

export { importTranscript, type ImportedTranscript, type ImportOptions } from './import.js'
export type { Episode } from './events.js'
export type { TranscriptSource } from './source.js'

/** What can be imported, by the name of its format. */
export const transcriptSources: ReadonlyMap<string, TranscriptSource> = new Map([
  ['inspector', inspectorSource],
  ['jsonrpc', linesSource],
  ['streamable-http', envelopeSource('streamable-http')],
  ['http-sse', envelopeSource('http-sse')],
])
