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

/** The capture says this first, without being asked. */
export const serverHello = z.object({
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
  /** Where clients connect, over HTTP. */
  listening: z.string().nullable(),
  /** First segment of the tape. */
  tape: z.string(),
  /** Where `save` goes without a path. */
  sessionFile: z.string(),
})
export type ServerHello = z.infer<typeof serverHello>

/** The last line of a capture that does not want to talk. */
export const refused = z.object({
  type: z.literal('refused'),
  /** `full`: as many are attached as can be. */
  code: z.enum(['version', 'protocol', 'full']),
  message: z.string(),
})

/** Why a command was not carried out. */
export const failureCode = z.enum([
  /** The command makes no sense, or its text is no JSON-RPC. */
  'invalid',
  /** There is no such message, or it is not held any more. */
  'not-held',
  /** There is no such message on the tape. */
  'not-found',
  /** It would send our own mark in the place of a secret. */
  'redacted',
  /** Onlookers do not decide. */
  'not-a-screen',
  /** There is nobody to send it to. */
  'no-peer',
  /** A file cannot be read or written, a rules file has a fault. */
  'file',
  /** No answer came. */
  'no-answer',
  'busy',
])
export type FailureCode = z.infer<typeof failureCode>

export const failure = z.object({ code: failureCode, message: z.string(), hint: z.string().optional() })
export type Failure = z.infer<typeof failure>

/** What a command came to. Which members there are depends on the command (docs/control.md). */
export const success = z.object({
  /** `save`: the file. */
  path: z.string().optional(),
  /** `inject`, `replay`: the message that was sent, as on the tape. */
  message: z.string().optional(),
  /** `replay`: what was sent. */
  sent: jsonText.optional(),
  /** `replay`, `inject` of a request: its answer, as it came. */
  answer: jsonText.optional(),
  latencyMs: z.number().optional(),
  /** `forward-all`: how many. */
  count: z.number().int().optional(),
})
export type Success = z.infer<typeof success>

export const reply = z.union([
  z.object({ type: z.literal('reply'), id: z.number().int(), ok: z.literal(true), result: success }),
  /** The id is null when the line could not be read so far. */
  z.object({
    type: z.literal('reply'),
    id: z.number().int().nullable(),
    ok: z.literal(false),
    error: failure,
  }),
])
export type Reply = z.infer<typeof reply>

/** A message that waits for a decision. For screens only. */
export const heldEvent = z.object({
  type: z.literal('held'),
  /** The same as on the tape. */
  message: messageId,
  direction,
  /** As it is, secrets included. */
  text: jsonText,
  /** ISO 8601. */
  t: z.string(),
  reason: holdReason,
  /** The rule, or the filter of the breakpoint. */
  by: z.string().optional(),
  /** Over HTTP: whose talk it is, and the number of its exchange. */
  conversation: z.string().optional(),
  exchange: z.number().int().optional(),
  /** When it goes on by itself. ISO 8601. */
  until: z.string().optional(),
  /** Set when whoever sent it, or would get it, is gone or has cancelled it. */
  moot: z.string().optional(),
})
export type HeldEvent = z.infer<typeof heldEvent>

const events = z.discriminatedUnion('type', [
  serverHello,
  refused,
  heldEvent,
  /** Something about a held message changed. */
  z.object({
    type: z.literal('held-changed'),
    message: messageId,
    /** It was behind another one, and is not any more. */
    reason: holdReason.optional(),
    moot: z.string().optional(),
  }),
  z.object({
    type: z.literal('released'),
    message: messageId,
    outcome: releaseOutcome,
    cause: releaseCause,
    /** What a person or a rule put in its place. For screens only. */
    text: jsonText.optional(),
  }),
  z.object({ type: z.literal('state'), state: gateState }),
  /** Everything that was on the tape when this subscription began has been sent. */
  z.object({ type: z.literal('live') }),
  /** This onlooker was too slow: so many lines of the tape were left out for it. The tape has them. */
  z.object({
    type: z.literal('gap'),
    /** Not there where they are gone from the disk, and nobody has counted them. */
    lines: z.number().int().optional(),
    sizeBytes: z.number().int().optional(),
    why: z.string(),
  }),
  /** Something a person should know. */
  z.object({ type: z.literal('notice'), message: z.string() }),
  /** The capture is over; nothing follows. */
  z.object({ type: z.literal('ended') }),
])

export const serverLine = z.union([events, reply])

/** A line of the tape, exact; `decodeLine` of the tape format reads it. */
export interface RecordEvent {
  readonly type: 'record'
  readonly line: string
}

/** What a capture says. */
export type ServerLine = z.infer<typeof serverLine> | RecordEvent
export type ServerEvent = Exclude<ServerLine, Reply | { type: 'hello' } | { type: 'refused' }>
