import { madeMeta, type Report, type TapeRecord } from '../../model/index.js'
import { JsonObject } from '../../wire/index.js'
import { withFoundTransport } from '../found-transport.js'
import { chained, flatMapped, just, mapped, replaced } from '../iterate.js'
import type { Format, Input, Recording } from '../format.js'
import { endsOfLines } from '../line-ends.js'
import { textChunks, type Piece } from '../text-chunks.js'
import { encodeMessageAround, encodeRecord } from './encode.js'
import { LentMessage } from './lent-message.js'
import { readLent } from './read-lent.js'
import { readTraceLines } from './read.js'
import { createSeveralServers, severalServersCode } from './several-servers.js'

export { decodeLine } from './decode.js'
export { encodeMessageAround, encodeMessageTail, encodeRecord } from './encode.js'
export { mostPlaceBytes, PlaceEncoder, type MessagePlace } from './place-encoder.js'
export type { EntryForm } from './entry-bytes.js'
export { canLend, LentMessage, ownRecord } from './lent-message.js'
export { MessageLineEncoder, lineEnd, type MessageLine } from './message-line.js'
export { readTraceLines, type TraceLine } from './read.js'
export type { PlainLine } from './plain-line.js'
export {
  PlainEncoder,
  payloadLevel,
  plainReaders,
  type PlainForm,
  type PlainFormat,
  type ReadPlain,
} from './plain-form.js'
export { PlainScan } from './plain-scan.js'
export { PlainLineMessage } from './plain-line-message.js'
export { PlainLines, type PlainLineArrays } from './plain-lines.js'
export { severalServersCode } from './several-servers.js'
export { TraceScan, type TakePlain } from './scan.js'

/** The tape of wiretape: trace v1 lines with additive members (docs/tape-format.md). */
export const traceV1: Format = {
  id: 'trace-v1',
  title: 'tape (trace v1)',
  extension: '.jsonl',
  detect,
  selects: true,
  borrows: true,
  lends: 'trace-v1',
  read,
  readEnds: (input) => endsOfLines(input, read),
  write,
}

/** Lines to check, in case the first ones are damaged. */
const linesLookedAt = 10

/** The first line identifies a tape; without it, the shape of a message line does. */
function detect(head: Uint8Array): number {
  const lines = new TextDecoder().decode(head.subarray(0, checkedEnd(head))).split('\n')
  let first = true
  for (const [i, line] of lines.slice(0, linesLookedAt).entries()) {
    if (line.trim() === '') continue
    const score = i === lines.length - 1 ? scoreOfLastLine(line) : scoreOfLine(line)
    if (score > 0) return first ? score : Math.min(score, 0.8)
    first = false
  }
  return 0
}

/** Behind the lines to check. */
function checkedEnd(head: Uint8Array): number {
  let end = 0
  for (let count = 0; count < linesLookedAt; count += 1) {
    const lf = head.indexOf(LF, end)
    if (lf < 0) return head.length
    end = lf + 1
  }
  return end
}
const LF = 0x0a

/** The last line may be the start of a longer one. */
function scoreOfLastLine(text: string): number {
  const whole = scoreOfLine(text)
  if (whole > 0) return whole
  const members = firstMembers(text)
  const isMeta = members.get('type') === '"meta"' && (members.has('v') || members.has('startedAt'))
  const isMessage = /^"(in|out)"$/.test(members.get('dir') ?? '') && members.has('t') && members.has('raw')
  return isMeta || isMessage ? 0.9 : 0
}

/** A member of an object; with its value only if complete and neither an object nor a nested array. */
const member =
  /\s*"([^"\\]*)"\s*:\s*(?:("[^"\\]*(?:\\.[^"\\]*)*"|[\w.+-]+|\[(?:[^[\]{}"]|"[^"\\]*(?:\\.[^"\\]*)*")*\])\s*,)?/y

/** Members at the start of an incomplete object, up to the first one with an object in it. */
function firstMembers(text: string): Map<string, string> {
  const members = new Map<string, string>()
  member.lastIndex = /^\s*\{/.exec(text)?.[0].length ?? text.length
  for (let found = member.exec(text); found; found = member.exec(text)) {
    const [, name, value] = found
    members.set(name!, value ?? '')
    if (value === undefined) break
  }
  return members
}

function scoreOfLine(text: string): number {
  const line = JsonObject.in(text)
  if (!line) return 0
  if (line.string('type') === 'meta') return line.has('v') || line.has('startedAt') ? 1 : 0.5
  const dir = line.string('dir')
  if ((dir === 'in' || dir === 'out') && line.has('raw') && line.has('t')) return 0.9
  return line.string('type') === 'end' && line.has('exitCode') ? 0.8 : 0
}

/** Adds a missing first line, so that times have a reference. */
function read(input: Input, report: Report): AsyncIterable<TapeRecord> {
  const { seen, only } = input
  // Record numbers include the added first line.
  const wanted = only && seen?.made ? { ...input, only: (record: number) => only(record + 1) } : input
  const records = withFoundTransport(
    input.lends && !only
      ? readLent(input, report)
      : mapped(readTraceLines(input.bytes(), report, wanted), ({ record }) => record),
  )
  if (only) {
    const made = seen?.made && only(0) ? [seen.made] : []
    return made.length === 0 ? records : chained([() => just<TapeRecord>(made), () => records])
  }
  let isBegun = false
  return replaced(
    records,
    (record) => {
      if (isBegun) return undefined
      const made = madeMeta(record)
      isBegun = made !== undefined || record.type === 'meta'
      if (made && seen) seen.made = made
      return made && [made, record]
    },
    () => [],
  )
}

function write(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  const servers = createSeveralServers()
  const lines = flatMapped(
    recording.records('bytes'),
    (record): readonly Piece[] => {
      servers.see(record)
      if (!(record instanceof LentMessage)) return [encodeRecord(record)]
      const { head, tail } = encodeMessageAround(record)
      return [head, record.utf8, tail]
    },
    () => {
      const { problem } = servers
      if (problem) {
        const message = `${problem.message} (${problem.hint})`
        report({ severity: 'warning', code: severalServersCode, message })
      }
      return []
    },
  )
  return textChunks(lines, recording)
}
