/** Writes and reads any format in memory. */
import { adopt, encodeRecord, formats, parquet, type Format } from '../../src/formats/index.js'
import type { Diagnostic, MessageRecord, TapeRecord } from '../../src/model/index.js'
import { chunksOf, recordsOf, toBytes } from './session-json-stage.js'

export function formatOf(id: string): Format {
  return [...formats, parquet].find((format) => format.id === id)!
}

export async function read(
  id: string,
  text: string | Uint8Array,
  cuts: readonly number[] = [],
): Promise<{ records: TapeRecord[]; said: string[] }> {
  const bytes = toBytes(text)
  const problems: Diagnostic[] = []
  const records: TapeRecord[] = []
  const input = { bytes: () => chunksOf(bytes, cuts) }
  for await (const record of formatOf(id).read!(input, (problem) => problems.push(problem)))
    records.push(record)
  return {
    records,
    said: problems.map(({ message, at }) => (at?.line === undefined ? message : `${at.line}: ${message}`)),
  }
}

export async function write(
  id: string,
  records: readonly TapeRecord[],
): Promise<{ text: string; bytes: Uint8Array; said: string[] }> {
  const said: string[] = []
  const parts: Uint8Array[] = []
  for await (const chunk of formatOf(id).write!(recordingOf(records), ({ message }) => said.push(message)))
    parts.push(chunk)
  const bytes = Uint8Array.from(Buffer.concat(parts))
  const text = new TextDecoder('utf-8', { fatal: id !== 'parquet' && !id.endsWith('-proto') }).decode(bytes)
  return { text, bytes, said }
}

export function recordingOf(records: readonly TapeRecord[]): { records(): AsyncGenerator<TapeRecord> } {
  return {
    async *records() {
      yield* records
    },
  }
}

/** The records with ids and links, as every command sees them. */
export async function adopted(records: readonly TapeRecord[]): Promise<TapeRecord[]> {
  const all: TapeRecord[] = []
  const recording = adopt({
    async *records() {
      yield* records
    },
  })
  for await (const record of recording.records()) all.push(record)
  return all
}

/** The facts that every format must keep: direction and exact text of each message, and the request of a response. */
export async function spoken(records: readonly TapeRecord[]): Promise<string[]> {
  const messages = (await adopted(records)).filter(
    (record): record is MessageRecord => record.type === 'message',
  )
  const parts = messages.flatMap((record) => record.parts.map((part) => ({ record, part })))
  const places = new Map(parts.map(({ part }, i) => [part.id, i]))
  return parts.map(({ record, part }) => {
    const answers = part.correlatedId === undefined ? '' : ` #${places.get(part.correlatedId)}`
    return `${record.direction === 'client_to_server' ? '>' : '<'}${answers} ${record.raw.slice(part.start, part.end)}`
  })
}

/** Records after a round trip through a tape, which drops everything that a tape does not keep. */
export function throughTape(records: readonly TapeRecord[]): TapeRecord[] {
  return recordsOf(records.map((record) => encodeRecord(record).trimEnd()))
}

/** Without what readers know of some messages and no tape keeps: sizes, and which entry of the file they stood in. */
export function unsized(records: readonly TapeRecord[]): TapeRecord[] {
  return records.map((record) => {
    if (record.type !== 'message') return record
    const { entry: _entry, ...rest } = record
    return { ...rest, parts: record.parts.map(({ sizeBytes: _size, ...part }) => part) }
  })
}
