import type { Direction, Draft, Envelope, MessageRecord, Part } from '../../model/index.js'
import { createByteTexts } from '../../wire/index.js'
import type { PlainLine } from './plain-line.js'

/**
 * A message whose text is bytes that its reader lent: valid until the next record is requested. `ownRecord` keeps it
 * longer. Its part ends at an upper bound of the text's length.
 */
export class LentMessage implements MessageRecord {
  readonly type = 'message'
  readonly t: string
  readonly direction: Direction
  readonly utf8: Uint8Array
  readonly batch = false
  parts: readonly Part[]
  readonly seq?: number
  readonly us?: number
  readonly conversation?: string
  /** Some JSON readers may refuse the text. */
  readonly #unusual: boolean

  constructor(bytes: Uint8Array, line: PlainLine) {
    const { rawStart, rawEnd } = line
    this.t = ascii.decode(bytes.subarray(line.timeStart, line.timeEnd))
    this.direction = line.fromServer ? 'server_to_client' : 'client_to_server'
    this.utf8 = bytes.subarray(rawStart, rawEnd)
    this.parts = [partOf(bytes, line)]
    if (line.seq >= 0) this.seq = line.seq
    if (line.us >= 0) this.us = line.us
    if (line.conversationStart >= 0)
      this.conversation = texts.at(bytes, line.conversationStart, line.conversationEnd)
    this.#unusual = line.unusual
  }

  get raw(): string {
    return utf8.decode(this.utf8)
  }

  get isUnusual(): boolean {
    return this.#unusual
  }
}

/** Whether the line has all data of its message in the places of a plain line. */
export function canLend({ redacted, http, sse, frameEnd }: PlainLine): boolean {
  return !redacted && !http && !sse && !frameEnd
}

/** The record, or a copy that stays valid. */
export function ownRecord(record: MessageRecord): MessageRecord {
  if (!(record instanceof LentMessage)) return record
  const { raw, utf8: _, parts, ...others } = record
  return { ...others, raw, parts: parts.map((part) => ({ ...part, end: raw.length })) }
}

const texts = createByteTexts()
const ascii = new TextDecoder('latin1')
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

function partOf(bytes: Uint8Array, line: PlainLine): Part {
  const sizeBytes = line.rawEnd - line.rawStart
  const part: Draft<Part> = { envelope: envelopeOf(bytes, line), start: 0, end: sizeBytes, sizeBytes }
  if (line.idStart >= 0) part.id = ascii.decode(bytes.subarray(line.idStart, line.idEnd))
  if (line.corrStart >= 0) part.correlatedId = ascii.decode(bytes.subarray(line.corrStart, line.corrEnd))
  if (line.late) part.late = true
  return part
}

/** The parts that tables and session files need. */
function envelopeOf(bytes: Uint8Array, line: PlainLine): Envelope {
  const envelope: Draft<Envelope> = { kind: line.kind }
  if (line.rpcIdStart >= 0) envelope.id = ascii.decode(bytes.subarray(line.rpcIdStart, line.rpcIdEnd))
  if (line.methodStart >= 0) envelope.method = texts.at(bytes, line.methodStart, line.methodEnd)
  if (line.subjectStart >= 0) envelope.subject = texts.at(bytes, line.subjectStart, line.subjectEnd)
  if (line.toolError) envelope.toolError = true
  if (line.codeStart >= 0) envelope.errorCode = texts.at(bytes, line.codeStart, line.codeEnd)
  if (line.messageStart >= 0) envelope.errorMessage = texts.at(bytes, line.messageStart, line.messageEnd)
  return envelope
}
