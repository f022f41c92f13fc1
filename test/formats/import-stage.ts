/** Transcripts in memory, and what becomes of them. */
import { expect } from 'vitest'
import {
  importInto,
  importTranscript,
  Irregular,
  readTranscriptBatches,
  type Episode,
  type MessageBatch,
  type Profile,
  type TranscriptFormat,
} from '../../src/formats/index.js'
import type { Diagnostic } from '../../src/model/index.js'
import { chunksOf, toBytes } from './session-json-stage.js'

/** JSON of which a test knows the shape. */
export type Loose = ReturnType<typeof JSON.parse>

export interface Imported {
  readonly text: string
  readonly events: Loose[]
  readonly messages: number
  /** Diagnostics, except the one about missing times, which many short transcripts have. */
  readonly said: string[]
  /** Whether a diagnostic said that there are no times. */
  readonly isUntimed: boolean
}

export const fallbackTime = 5
const untimed = 'no message has a time: the timestamp of every event is 5 '

export async function imported(
  format: string,
  text: string | Uint8Array,
  options: { episode?: Episode; cuts?: readonly number[]; profile?: Profile } = {},
): Promise<Imported> {
  const said: string[] = []
  const bytes = toBytes(text)
  const given = {
    input: { bytes: () => chunksOf(bytes, options.cuts) },
    episode: options.episode ?? { id: 'e' },
    fallbackTime,
    profile: options.profile ?? 'documented',
    report: ({ message }: Diagnostic) => said.push(message),
  }
  let parts: Uint8Array[] = []
  const keep = async (trace: AsyncIterable<Uint8Array>): Promise<void> => {
    parts = []
    for await (const chunk of trace) parts.push(chunk)
  }
  const batches = async function* (): AsyncGenerator<MessageBatch> {
    // As from another thread.
    try {
      for await (const batch of await readTranscriptBatches(given.input.bytes(), given.profile))
        yield structuredClone(batch)
    } catch {
      throw new Irregular()
    }
  }
  const quick: { bytes: Uint8Array; said: string[] }[] = []
  for (const more of format === 'jsonrpc' ? [{}, { batches }] : [{}]) {
    await importInto(keep, format as TranscriptFormat, {
      ...given,
      ...more,
      again: () => void said.splice(0),
    })
    quick.push({ bytes: Buffer.concat(parts), said: said.splice(0) })
  }
  // In one pass or in two, it is the same.
  const result = await importTranscript(format as TranscriptFormat, given)
  await keep(result.trace)
  for (const each of quick) expect(each).toEqual({ bytes: Buffer.concat(parts), said })
  const trace = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts))
  const lines = trace.split('\n').slice(0, -1)
  const events = lines.map((line) => JSON.parse(line))
  const notes = said.filter((note) => !note.startsWith(untimed))
  return {
    text: trace,
    events,
    messages: result.messages(),
    said: notes,
    isUntimed: notes.length < said.length,
  }
}

/** Why the transcript is refused. */
export async function refusal(format: string, text: string | Uint8Array, profile?: Profile): Promise<string> {
  return imported(format, text, profile && { profile }).then(
    () => 'taken',
    (error: Error) => error.message,
  )
}

export function envelope(entries: readonly string[], transport = 'streamable-http'): string {
  return `{"transport":"${transport}","entries":[${entries.join(',')}]}`
}

/** The calls of a trace in a few words. */
export function callsIn({ events }: Imported): string[] {
  return events
    .filter(({ type }: Loose) => type === 'tool_call')
    .map((e: Loose) => `${e.tool_name} ${JSON.stringify(e.args)} ${JSON.stringify(e.result)} ${e.error}`)
}
