import { lazyWrite } from '../lazy.js'
import type { Format } from '../format.js'
import type { MessageBatch } from './message-batch.js'
import type { Profile } from './profile.js'
import type { TranscriptFormat } from './transcript-formats.js'
import type { ImportedTranscript, ImportOptions } from './import.js'
import { Irregular } from './source.js'

export type { ImportedTranscript, ImportOptions } from './import.js'
export type { Episode } from './events.js'
export type { MessageBatch } from './message-batch.js'
export { profiles, type Profile } from './profile.js'
export { Irregular } from './source.js'

export { transcriptFormats, type TranscriptFormat } from './transcript-formats.js'

/**
 * Turns a transcript into Trace V2 events: the same bytes for the same input and options. Everything is checked
 * before the first byte is returned.
 *
 * @throws WiretapeError `not-a-recording` with the reason, before any output
 */
export async function importTranscript(
  format: TranscriptFormat,
  options: Omit<ImportOptions, 'source'>,
): Promise<ImportedTranscript> {
  const [{ importFrom }, { sourceOf }] = await Promise.all([import('./import.js'), import('./sources.js')])
  return importFrom({ ...options, source: sourceOf(format, options.profile ?? 'documented') })
}

/**
 * As `importTranscript`, for a target that is discarded on errors: a file of lines is read only once.
 *
 * @param keep receives the trace, possibly a second time; its errors are passed through
 * @throws WiretapeError `not-a-recording`, possibly after some output
 */
export async function importInto(
  keep: (trace: AsyncIterable<Uint8Array>) => Promise<void>,
  format: TranscriptFormat,
  options: Omit<ImportOptions, 'source'> & {
    /** The input is read again: earlier reports are void. */
    readonly again: () => void
  },
): Promise<ImportedTranscript> {
  const [{ importAtOnce }, { sourceOf }] = await Promise.all([import('./import.js'), import('./sources.js')])
  const source = sourceOf(format, options.profile ?? 'documented')
  if (!source.isWhole) {
    try {
      const quick = importAtOnce({ ...options, source })
      await keep(quick.trace)
      return quick
    } catch (error) {
      if (!(error instanceof Irregular)) throw error
      options.again()
    }
  }
  const imported = await importTranscript(format, options)
  await keep(imported.trace)
  return imported
}

/** See `MessageBatch`. Loads the reader of transcripts. */
export async function readTranscriptBatches(
  bytes: AsyncIterable<Uint8Array>,
  profile: Profile,
): Promise<AsyncIterable<MessageBatch>> {
  const { readMessageBatches } = await import('./message-batch.js')
  return readMessageBatches(bytes, profile)
}

/** Trace V2 events for the tool calls of a recording, equal to those of its transcript. */
export const assayTrace: Format = {
  id: 'assay-trace',
  title: 'Trace V2 events (JSON lines)',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).writeTrace),
}
