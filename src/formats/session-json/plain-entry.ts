import type { MessageRecord, Part } from '../../model/index.js'
import { encodeMessageAround, LentMessage } from '../trace-v1/index.js'
import { microsOf, type EntryContext, type EntryPlace } from './entry.js'
import { isId, isRepresentable, isRepresentableEnvelope } from './representable.js'
import { quickTimestamp, timestampOf } from './time.js'

/**
 * The entry of an unchanged message, as indented text up to its payload, which is the record's text: most messages are
 * of this kind, and recordings have millions. The same result as `entryOf` and `frameNote`, in a fifth of the time.
 *
 * @param made data missing on the tape's line is generated, permanently or for the file; otherwise it must be present
 * @returns undefined for any other message, which is handled by the slower functions
 */
export function plainEntry(
  record: MessageRecord,
  place: EntryPlace,
  context: EntryContext,
  made: boolean,
): string | undefined {
  const part = record.parts[0]!
  if (!isBare(record)) return undefined
  if (record.seq === undefined ? !made : record.seq !== place.sequence) return undefined
  if (part.id === undefined ? !made : part.id !== place.proxyId) return undefined
  if (
    part.correlatedId === undefined ? !made && place.correlatedId : part.correlatedId !== place.correlatedId
  )
    return undefined
  const timestamp = quickTime(record, context) ?? timeOf(record, context, made)
  if (timestamp === undefined) return undefined
  const { envelope } = part
  if (!(record instanceof LentMessage ? canLendPayload(record) : hasPlainPayload(record))) return undefined
  const { id, method } = envelope
  return `    {
      "proxy_id": ${JSON.stringify(place.proxyId)},
      "sequence": ${place.sequence},
      "timestamp": "${timestamp}",
      "direction": "${record.direction}",
      "transport": "${context.transport}",
      "jsonrpc_id": ${id !== undefined && isId(id) ? id : 'null'},
      "method": ${method === undefined ? 'null' : JSON.stringify(method)},
      "correlated_id": ${place.correlatedId === undefined ? 'null' : JSON.stringify(place.correlatedId)},
      "modified": false,
      "payload": `
}

/** Where both clocks agree. */
function quickTime(record: MessageRecord, { startMicros }: EntryContext): string | undefined {
  if (!(record instanceof LentMessage) || record.us === undefined) return undefined
  return quickTimestamp(startMicros + record.us, (second, ms) => record.isTime(second, ms))
}

/** The time of an entry; undefined where the record's clocks disagree. @param made as for `plainEntry` */
export function timeOf(record: MessageRecord, context: EntryContext, made: boolean): string | undefined {
  const micros = microsOf(record, context)
  if (record.us === undefined ? !made : record.us !== Math.max(0, micros - context.startMicros))
    return undefined
  return timestampOf(record.t, micros)
}

/**
 * The data on a tape's line about a message with a plain entry that is missing from the entry: members for
 * `metadata.wiretape.lines`, as JSON text. Undefined for none. The same result as `frameNote`.
 */
export function besidePlain(record: MessageRecord): string | undefined {
  if (hasOnly(record, saidOfRecord) && hasOnly(record.parts[0]!, saidOfPart)) return undefined
  const { seq: _, us: _us, ...rest } = record
  const { id: _id, correlatedId: _to, ...part } = record.parts[0]!
  const { tail } = encodeMessageAround({ ...rest, t: record.t, parts: [part] })
  return tail === '}\n' ? undefined : `{${tail.slice(1).trimEnd()}`
}

/** Members that an entry can hold. Members added to records in future take the slower path automatically. */
const saidOfRecord: ReadonlySet<string> = new Set<keyof LentMessage>([
  'type',
  't',
  'us',
  'seq',
  'direction',
  'raw',
  'utf8',
  'encoded',
  'batch',
  'parts',
])
const saidOfPart: ReadonlySet<string> = new Set<keyof Part>([
  'id',
  'envelope',
  'start',
  'end',
  'sizeBytes',
  'correlatedId',
])

/** Members outside of an entry that do not affect it. */
const besideRecord: ReadonlySet<string> = new Set<keyof MessageRecord | 'encoded'>([
  ...(saidOfRecord as ReadonlySet<keyof MessageRecord>),
  'conversation',
  'http',
  'sse',
  'frameEnd',
  'red',
  'rule',
  'heldMs',
])
const besidePart: ReadonlySet<string> = new Set<keyof Part>([
  ...(saidOfPart as ReadonlySet<keyof Part>),
  'late',
  'duplicateOf',
  'links',
])

function hasPlainPayload({ raw, parts }: MessageRecord): boolean {
  const { start, end, envelope } = parts[0]!
  return start === 0 && end === raw.length && isRepresentable(raw, envelope)
}

function canLendPayload({ isUnusual, parts }: LentMessage): boolean {
  return !isUnusual && isRepresentableEnvelope(parts[0]!.envelope)
}

function isBare(record: MessageRecord): boolean {
  if (record.batch) return false
  return (
    (record instanceof LentMessage || hasOnly(record, besideRecord)) && hasOnly(record.parts[0]!, besidePart)
  )
}

function hasOnly(object: object, names: ReadonlySet<string>): boolean {
  for (const name in object) {
    if (!names.has(name) && object[name as keyof typeof object] !== undefined) return false
  }
  return true
}
