import { z } from 'zod'
import {
  direction,
  gateState,
  holdReason,
  jsonText,
  messageId,
  releaseCause,
  releaseOutcome,
  transport,
} from './values.js'

/** First line from a capture, sent unprompted. */
const serverHello = z.object({
  type: z.literal('hello'),
  protocol: z.number().int(),
  /** Version of wiretape. */
  wiretape: z.string(),
  session: z.string(),
  label: z.string(),
  pid: z.number().int(),
  transport,
  startedAt: z.string(),
  /** Redacted, as on the tape. */
  command: z.array(z.string()),
  url: z.string().nullable(),
  /** Over HTTP: the address where clients connect. */
  listening: z.string().nullable(),
  /** First segment of the tape. */
  tape: z.string(),
  /** Target of `save` without a path. */
  sessionFile: z.string(),
})
export type ServerHello = z.infer<typeof serverHello>

/** Last line of a capture that refuses the connection. */
const refused = z.object({
  type: z.literal('refused'),
  /** `full`: the limit of attached programs is reached. */
  code: z.enum(['version', 'protocol', 'full']),
  message: z.string(),
})

/** Why a command failed. */
const failureCode = z.enum([
  /** The command is invalid, or its text is not JSON-RPC. */
  'invalid',
  /** The message does not exist, or is no longer held. */
  'not-held',
  /** The message is not on the tape. */
  'not-found',
  /** The text contains the redaction marker instead of the secret. */
  'redacted',
  /** Onlookers cannot decide about messages. */
  'not-a-screen',
  /** The receiver is missing or gone. */
  'no-peer',
  /** A file cannot be read or written, or a rules file has an error. */
  'file',
  /** No response arrived. */
  'no-answer',
  'busy',
])

const failure = z.object({ code: failureCode, message: z.string(), hint: z.string().optional() })
export type Failure = z.infer<typeof failure>

/** Result of a command. Its members depend on the command (docs/control.md). */
const success = z.object({
  /** `save`: path of the file. */
  path: z.string().optional(),
  /** `inject`, `replay`: id of the sent message, as on the tape. */
  message: z.string().optional(),
  /** `replay`: the sent text. */
  sent: jsonText.optional(),
  /** `replay`, `inject` of a request: the response, unchanged. */
  answer: jsonText.optional(),
  latencyMs: z.number().optional(),
  /** `forward-all`: number of forwarded messages. */
  count: z.number().int().optional(),
})
export type Success = z.infer<typeof success>

const reply = z.union([
  z.object({ type: z.literal('reply'), id: z.number().int(), ok: z.literal(true), result: success }),
  /** The id is null if the line could not be parsed far enough to read it. */
  z.object({
    type: z.literal('reply'),
    id: z.number().int().nullable(),
    ok: z.literal(false),
    error: failure,
  }),
])
export type Reply = z.infer<typeof reply>

/** A held message that needs a decision. Sent to screens only. */
const heldEvent = z.object({
  type: z.literal('held'),
  /** UUID, as on the tape. */
  message: messageId,
  direction,
  /** Exact text, with secrets. */
  text: jsonText,
  /** ISO 8601. */
  t: z.string(),
  reason: holdReason,
  /** Name of the rule, or filter of the breakpoint. */
  by: z.string().optional(),
  /** Over HTTP: the conversation, and the number of the HTTP exchange. */
  conversation: z.string().optional(),
  exchange: z.number().int().optional(),
  /** When the message is forwarded automatically. ISO 8601. */
  until: z.string().optional(),
  /** Reason, if the sender or receiver is gone or has cancelled the request. */
  moot: z.string().optional(),
})
export type HeldEvent = z.infer<typeof heldEvent>

const events = z.discriminatedUnion('type', [
  serverHello,
  refused,
  heldEvent,
  /** The state of a held message changed. */
  z.object({
    type: z.literal('held-changed'),
    message: messageId,
    /** New reason: the message is no longer blocked by an earlier one. */
    reason: holdReason.optional(),
    moot: z.string().optional(),
  }),
  z.object({
    type: z.literal('released'),
    message: messageId,
    outcome: releaseOutcome,
    cause: releaseCause,
    /** Replacement text from a person or a rule. Sent to screens only. */
    text: jsonText.optional(),
  }),
  z.object({ type: z.literal('state'), state: gateState }),
  /** Everything on the tape at the time of the subscription has been sent. */
  z.object({ type: z.literal('live') }),
  /** Lines of the tape that this onlooker missed because it was too slow. They are on the tape. */
  z.object({
    type: z.literal('gap'),
    /** Absent if the lines were deleted from the disk uncounted. */
    lines: z.number().int().optional(),
    sizeBytes: z.number().int().optional(),
    why: z.string(),
  }),
  /** A notice for people. */
  z.object({ type: z.literal('notice'), message: z.string() }),
  /** The capture has ended; nothing follows. */
  z.object({ type: z.literal('ended') }),
])

export const serverLine = z.union([events, reply])

/** One exact line of the tape; `decodeLine` of the tape format parses it. */
export interface RecordEvent {
  readonly type: 'record'
  readonly line: string
}

/** Lines from a capture. */
export type ServerLine = z.infer<typeof serverLine> | RecordEvent
export type ServerEvent = Exclude<ServerLine, Reply | { type: 'hello' } | { type: 'refused' }>
