import type { Report, TapeRecord } from '../model/index.js'
import type { FileInput, Format, RecordingEnds } from './format.js'
import { just } from './iterate.js'

/** Bytes that are read at the start and at the end of a file: few if they suffice. */
const [fewBytes, mostBytes] = [1 << 16, 1 << 20]
const LF = 0x0a

type Read = NonNullable<Format['read']>

/**
 * The first and the last record of a file with independent lines, from the lines at its start and end. Undefined
 * when these are insufficient or have problems.
 */
export async function endsOfLines(input: FileInput, read: Read): Promise<RecordingEnds | undefined> {
  const { sizeBytes } = input
  // A small file is read completely in the same time.
  if (sizeBytes < 4 * mostBytes) return undefined
  const ends = await endsOfParts(input, read, fewBytes)
  return ends && !isUndecided(ends) ? ends : endsOfParts(input, read, mostBytes)
}

/** Later records tell the transport. */
function isUndecided({ first }: RecordingEnds): boolean {
  return first.type === 'meta' && first.wiretape?.transport === 'streamable-http'
}

async function endsOfParts(
  input: FileInput,
  read: Read,
  partBytes: number,
): Promise<RecordingEnds | undefined> {
  const { sizeBytes } = input
  const start = await bytesOf(input, 0, partBytes)
  const end = await bytesOf(input, sizeBytes - partBytes, sizeBytes)
  const lastOfStart = start.lastIndexOf(LF)
  const firstOfEnd = end.indexOf(LF)
  if (lastOfStart < 0 || firstOfEnd < 0 || end.at(-1) !== LF) return undefined
  const [first, ...others] = await recordsOf(read, start.subarray(0, lastOfStart + 1))
  const firstMessage = others.find((record) => record.type === 'message')
  const last = (await recordsOf(read, end.subarray(firstOfEnd + 1))).at(-1)
  return first && firstMessage && last && { first, firstMessage, last }
}

/** Expected problems of parts: the missing start and end are caused by cutting here. */
const ofParts = new Set(['no-meta', 'incomplete'])

/** Empty when there is any problem. */
async function recordsOf(read: Read, bytes: Uint8Array): Promise<TapeRecord[]> {
  let isFine = true
  const report: Report = ({ code }) => {
    if (!ofParts.has(code)) isFine = false
  }
  const records: TapeRecord[] = []
  try {
    for await (const record of read({ bytes: () => just([bytes]) }, report)) records.push(record)
  } catch {
    // Reading the whole file will report the reason.
    return []
  }
  return isFine ? records : []
}

async function bytesOf(input: FileInput, from: number, to: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(to - from)
  let size = 0
  for await (const chunk of input.bytes(from, to)) {
    bytes.set(chunk.subarray(0, bytes.length - size), size)
    size += chunk.length
  }
  return bytes.subarray(0, size)
}
