import type { Report, TapeRecord } from '../../model/index.js'
import type { Recording } from '../format.js'
import { writeTranscript } from '../http-transcript/write.js'
import { envelopeSource } from './envelope-source.js'
import { importFrom } from './import.js'

/**
 * The Trace V2 events of a recording: those of its Streamable HTTP transcript, by the same rules. Messages that
 * importers would refuse are omitted and reported.
 */
export async function* writeTrace(
  recording: Recording,
  report: Report,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { name, startedMs } = await aboutOf(recording)
  let passes = 0
  const imported = await importFrom({
    source: envelopeSource('streamable-http'),
    input: {
      bytes() {
        passes += 1
        // Reported once: every pass finds the same.
        const tell: Report = passes === 1 ? report : () => undefined
        const passOn: Report = (problem) => {
          if (problem.code !== 'other-transport') tell(problem)
        }
        return writeTranscript('streamable-http', recording, passOn, { isLoose: true })
      },
    },
    episode: { id: name },
    fallbackTime: startedMs,
    isKnown: true,
    report: (problem) => report({ ...problem, code: 'lost' }),
  })
  if (imported.messages() > 0) {
    const message = 'only tool calls are kept: exact texts, HTTP data and batches are left out'
    report({ severity: 'warning', code: 'lost', message })
  }
  yield* imported.trace
}

async function aboutOf(recording: Recording): Promise<{ name: string; startedMs: number }> {
  let first: TapeRecord | undefined
  for await (const record of recording.records()) {
    first = record
    break
  }
  if (first?.type !== 'meta') return { name: 'recording', startedMs: 0 }
  const startedMs = Date.parse(first.startedAt)
  const name = first.wiretape?.session ?? first.label
  return { name: name === '' ? 'recording' : name, startedMs: Number.isNaN(startedMs) ? 0 : startedMs }
}
