import type { Draft, MessageRecord, Part } from '../../model/index.js'
import { readEnvelope } from '../../wire/index.js'
import { decodeLine } from '../trace-v1/index.js'
import type { EntryContext } from './entry.js'
import { objectText } from './members.js'
import type { PlainBytes } from './plain-bytes.js'
import type { FrameNote } from './read-notes.js'
import { isId } from './representable.js'
import { messageTime, parseMicros } from './time.js'

/** Start of the fraction in `2026-11-21T01:33:10.417251+00:00`. */
const secondLength = 19
/** With the fraction, and without it. */
const timeLengths = [secondLength + 13, secondLength + 6]

/** Creates messages from plain entries; undefined when the file has data that needs the full reader. */
export type PlainRecords = (plain: PlainBytes, frame: FrameNote | undefined) => MessageRecord | undefined

export function createPlainRecords({ startMicros }: EntryContext): PlainRecords {
  /** The last second that was read: most messages are in the same second as the previous one. */
  let second = ''
  let secondMicros = 0

  function microsOf(time: string): number | undefined {
    if (!timeLengths.includes(time.length)) return undefined
    const own = time.slice(0, secondLength)
    if (own !== second) {
      const micros = parseMicros(`${own}Z`)
      if (micros === undefined || messageTime(micros) !== `${own}+00:00`) return undefined
      second = own
      secondMicros = micros
    }
    const fraction = time.length === timeLengths[0] ? time.slice(secondLength + 1, secondLength + 7) : ''
    const micros = secondMicros + Number(fraction)
    return time === withFraction(micros - secondMicros) ? micros : undefined
  }

  function withFraction(micros: number): string {
    return micros === 0 ? `${second}+00:00` : `${second}.${String(micros).padStart(6, '0')}+00:00`
  }

  return (plain, frame) => {
    const { text } = plain
    const beside = frame && besideOf(frame)
    if (frame && !beside) return undefined
    const micros = microsOf(text.slice(plain.timestamp[0], plain.timestamp[1]))
    if (micros === undefined || !(micros >= startMicros)) return undefined
    const [start, end] = plain.payload
    const envelope = readEnvelope(text, start)
    if (envelope.kind === 'invalid' || envelope.problem !== undefined) return undefined
    const { id, method } = envelope
    if (!same(text, plain.jsonrpcId, id !== undefined && isId(id) ? id : 'null')) return undefined
    if (!same(text, plain.method, method === undefined ? 'null' : `"${method}"`)) return undefined
    const raw = text.slice(start, end)
    const part: Draft<Part> = {
      envelope,
      start: 0,
      end: raw.length,
      id: plainId(plain),
      sizeBytes: plain.payloadBytes,
    }
    const [corr, corrEnd] = plain.correlatedId
    if (text.charAt(corr) === '"') part.correlatedId = text.slice(corr + 1, corrEnd - 1)
    const ms = String(Math.floor((micros - secondMicros) / 1000)).padStart(3, '0')
    const record: Draft<MessageRecord> = {
      type: 'message',
      t: `${second}.${ms}Z`,
      direction: plain.isFromClient ? 'client_to_server' : 'server_to_client',
      raw,
      batch: false,
      parts: [part],
      seq: plain.sequence,
      us: micros - startMicros,
    }
    return beside ? withBeside(record, part, beside) : record
  }
}

/** Members of a tape's line that do not affect its entry. */
const besideNames: ReadonlySet<string> = new Set([
  'late',
  'dup',
  'linked',
  'conv',
  'rule',
  'heldMs',
  'red',
  'http',
  'sse',
  'eol',
])

/** The data of a note about a single message, as a message without text; undefined when it has more. */
function besideOf({ line, without, between }: FrameNote): MessageRecord | undefined {
  if (without.length > 0 || between) return undefined
  const members = line.others()
  if (members.length === 0 || !members.every(([name]) => besideNames.has(name))) return undefined
  const decoded = decodeLine(objectText([...bareLine, ...members]), { checked: true })
  return 'record' in decoded && decoded.record.type === 'message' && !decoded.record.extra
    ? decoded.record
    : undefined
}

const bareLine = [
  ['t', '""'],
  ['dir', '"in"'],
  ['raw', '0'],
] as const

function withBeside(record: Draft<MessageRecord>, part: Draft<Part>, beside: MessageRecord): MessageRecord {
  const { conversation, rule, heldMs, red, http, sse, frameEnd } = beside
  const { late, duplicateOf, links } = beside.parts[0]!
  if (late) part.late = late
  if (duplicateOf !== undefined) part.duplicateOf = duplicateOf
  if (links) part.links = links
  if (conversation !== undefined) record.conversation = conversation
  if (rule !== undefined) record.rule = rule
  if (heldMs !== undefined) record.heldMs = heldMs
  if (red) record.red = red
  if (http) record.http = http
  if (sse) record.sse = sse
  if (frameEnd) record.frameEnd = frameEnd
  return record
}

export function plainId({ text, proxyId: [start, end] }: PlainBytes): string {
  return text.slice(start, end)
}

function same(text: string, [start, end]: readonly [number, number], other: string): boolean {
  return end - start === other.length && text.startsWith(other, start)
}
