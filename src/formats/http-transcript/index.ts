import type { Format } from '../format.js'
import type { TranscriptTransport } from './entry.js'
import { detectTranscript } from './detect.js'
import { lazyRead, lazyWrite } from '../lazy.js'

/** A Streamable HTTP transcript, as accepted by importers of evidence. */
export const streamableHttp = transcript('streamable-http', 'HTTP transcript (JSON)')

/** The same for the deprecated HTTP+SSE transport. */
export const httpSse = transcript('http-sse', 'HTTP+SSE transcript (JSON)')

function transcript(id: TranscriptTransport, title: string): Format {
  return {
    id,
    title,
    detect: (head) => detectTranscript(head, id),
    read: lazyRead(async () => {
      const { readTranscript } = await import('./read.js')
      return (input, report) => readTranscript(id, input, report)
    }),
    write: lazyWrite(async () => {
      const { writeTranscript } = await import('./write.js')
      return (recording, report) => writeTranscript(id, recording, report)
    }),
  }
}
