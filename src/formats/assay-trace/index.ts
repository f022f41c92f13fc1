import { lazyWrite } from '../lazy.js'
import type { Format } from '../format.js'
import type { TranscriptFormat } from './transcript-formats.js'
import type { ImportedTranscript, ImportOptions } from './import.js'

export type { ImportedTranscript, ImportOptions } from './import.js'
export type { Episode } from './events.js'
export { profiles, type Profile } from './profile.js'

export { transcriptFormats, type TranscriptFormat } from './transcript-formats.js'

/**
 * Turns a transcript into Trace V2 events: the same bytes for the same input and options. Everything is checked
 * before the first byte is given.
 *
 * @throws WiretapeError `not-a-recording` with the reason; nothing was given then
 */
export async function importTranscript(
  format: TranscriptFormat,
  options: Omit<ImportOptions, 'source'>,
): Promise<ImportedTranscript> {
  const [{ importFrom }, { sourceOf }] = await Promise.all([import('./import.js'), import('./sources.js')])
  return importFrom({ ...options, source: sourceOf(format, options.profile ?? 'documented') })
}

/**
 * The same for a target that is thrown away when something goes wrong: a file of lines is read once only.
 *
 * @param keep takes the trace, perhaps a second time; what it throws comes through
 * @throws WiretapeError `not-a-recording`, also after bytes were given
 */
export async function importInto(
  keep: (trace: AsyncIterable<Uint8Array>) => Promise<void>,
  format: TranscriptFormat,
  options: Omit<ImportOptions, 'source'> & {
    /** It is gone through anew: what was reported counts no more. */
    readonly again: () => void
  },
): Promise<ImportedTranscript> {
  const [{ importAtOnce, Irregular }, { sourceOf }] = await Promise.all([
    import('./import.js'),
    import('./sources.js'),
  ])
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

/** Trace V2 events of the tool calls of a recording, as its transcript would give them. */
export const assayTrace: Format = {
  id: 'assay-trace',
  title: 'Trace V2 events (JSON lines)',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).writeTrace),
}
