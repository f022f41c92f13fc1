import { envelopeSource } from './envelope-source.js'
import type { TranscriptFormat } from './transcript-formats.js'
import { inspectorSource } from './inspector-source.js'
import { linesSource } from './lines-source.js'
import type { Profile } from './profile.js'
import type { TranscriptSource } from './source.js'

/** The reader for transcripts of a format. */
export function sourceOf(format: TranscriptFormat, profile: Profile): TranscriptSource {
  switch (format) {
    case 'inspector':
      return inspectorSource(profile)
    case 'jsonrpc':
      return linesSource(profile)
    case 'streamable-http':
    case 'http-sse':
      return envelopeSource(format, profile)
  }
}
