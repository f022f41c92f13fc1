import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  compactSession,
  sessionJson,
  encodeRecord,
  decodeLine,
  type Format,
} from '../../src/formats/index.js'
import type { Diagnostic, TapeRecord } from '../../src/model/index.js'

const utf8 = new TextEncoder()

export function toBytes(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? utf8.encode(text) : text
}

/** The bytes in the chunks that these cuts make of them. */
export async function* chunksOf(bytes: Uint8Array, cuts: readonly number[] = []): AsyncGenerator<Uint8Array> {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  for (let i = 1; i < at.length; i += 1) yield bytes.slice(at[i - 1], at[i])
}

export interface Reading {
  readonly records: TapeRecord[]
  readonly problems: Diagnostic[]
  /** One line each, as a tape. */
  readonly lines: string[]
}

export async function readSession(text: string | Uint8Array, cuts: readonly number[] = []): Promise<Reading> {
  const bytes = toBytes(text)
  const problems: Diagnostic[] = []
  const records: TapeRecord[] = []
  const input = { bytes: () => chunksOf(bytes, cuts) }
  for await (const record of sessionJson.read!(input, (problem) => problems.push(problem)))
    records.push(record)
  return { records, problems, lines: records.map((record) => encodeRecord(record).trimEnd()) }
}

export async function writeSession(records: readonly TapeRecord[], compact = false): Promise<string> {
  async function* all(): AsyncGenerator<TapeRecord> {
    yield* records
  }
  const parts: Uint8Array[] = []
  const format: Format = compact ? compactSession : sessionJson
  for await (const chunk of format.write!({ records: all }, () => undefined)) parts.push(chunk)
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts))
}

export function recordsOf(lines: readonly string[]): TapeRecord[] {
  return lines.map((line) => {
    const decoded = decodeLine(line)
    if ('fault' in decoded) throw new Error(`${decoded.fault.message}: ${line}`)
    return decoded.record
  })
}

export const messagesIn = (problems: readonly Diagnostic[]): string[] =>
  problems.map(({ severity, message }) => `${severity}: ${message}`)

/** JSON of which a test knows the shape. */
export type Loose = ReturnType<typeof JSON.parse>

/** Golden files in a folder of fixtures. */
export function goldenFiles(name: string) {
  const folder = join(import.meta.dirname, '../fixtures', name)
  const fixture = (file: string): string => readFileSync(join(folder, file), 'utf8')
  return { folder, fixture, tapeOf: (file: string) => recordsOf(fixture(file).trimEnd().split('\n')) }
}
