import type { Format } from '../format.js'
import type { TranscriptTransport } from './entry.js'
import { writeTranscript } from './write.js'

/** A transcript of Streamable HTTP, as importers of evidence take it. Chosen by its name only. */
export const streamableHttp = transcript('streamable-http', 'HTTP transcript (JSON)')

/** The same of the deprecated HTTP+SSE transport. */
export const httpSse = transcript('http-sse', 'HTTP+SSE transcript (JSON)')

function transcript(id: TranscriptTransport, title: string): Format {
  return {
    id,
    title,
    detect: () => 0,
    write: (recording, report) => writeTranscript(id, recording, report),
  }
}
