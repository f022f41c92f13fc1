import { plainSettings } from '../../src/compare/index.js'
import { planReplay, runReplay, type Connect } from '../../src/replay/index.js'
import { OpenRecords, openSegments } from '../../src/tape/index.js'

/** Replays a tape in order, without a handshake of its own: the verdicts and the notes. */
export async function replayTape(
  tape: string,
  connect: Connect,
  timeoutMs: number,
): Promise<{ verdicts: (string | undefined)[]; notes: readonly string[] | undefined }> {
  const records = new OpenRecords(await openSegments(tape))
  const verdicts: (string | undefined)[] = []
  const { notes } = await runReplay(
    await planReplay(records, tape, () => undefined),
    connect,
    {
      timeoutMs,
      handshake: false,
      unanswered: 'error',
      concurrency: 'one',
      speed: Infinity,
      sets: [],
      settings: plainSettings,
      signal: new AbortController().signal,
    },
    { outcome: ({ comparison }) => void verdicts.push(comparison?.verdict), question: () => undefined },
  )
  await records.close()
  return { verdicts, notes }
}
