import { z } from 'zod'
import { direction, jsonText, messageId, role } from './values.js'

/** Whoever attaches says this first. */
export const clientHello = z.object({
  type: z.literal('hello'),
  protocol: z.number().int(),
  role,
  /** Who it is, for people. */
  name: z.string().max(200).optional(),
})
export type ClientHello = z.infer<typeof clientHello>

/** Chosen by whoever asks; the reply has the same. */
const id = z.number().int()
const filters = z.array(z.string().max(10_000)).max(100)

const subscribe = z.object({
  type: z.literal('subscribe'),
  id,
  /** Number of the first message wanted; `now` for only what comes. @default 0, the whole recording */
  from: z.union([z.number().int().min(0), z.literal('now')]).optional(),
})

const hold = z.object({ type: z.literal('hold'), id, on: z.boolean() })
const breakpoints = z.object({ type: z.literal('breakpoints'), id, filters })
const forward = z.object({
  type: z.literal('forward'),
  id,
  /** A held message, or all. */
  message: messageId,
})
const forwardAll = z.object({ type: z.literal('forward-all'), id })
const edit = z.object({
  type: z.literal('edit'),
  id,
  message: messageId,
  /** What is passed on in its place. */
  text: jsonText,
})
const drop = z.object({ type: z.literal('drop'), id, message: messageId })
const answer = z.object({
  type: z.literal('answer'),
  id,
  /** A held request. It does not reach the other side. */
  message: messageId,
  /** JSON text of the result; or of the error: one of both. */
  result: jsonText.optional(),
  error: jsonText.optional(),
})
const inject = z.object({
  type: z.literal('inject'),
  id,
  direction,
  text: jsonText,
  /** Over HTTP: the conversation it goes into. @default the latest */
  conversation: z.string().optional(),
  /**
   * What becomes of the answer to an injected request: `keep` gives it to whoever injected, since the peer never asked;
   * `pass` lets it go its way. @default keep
   */
  answer: z.enum(['keep', 'pass']).optional(),
})
const replay = z.object({
  type: z.literal('replay'),
  id,
  /** A request on the tape. */
  message: messageId,
  /** What is sent in its place; needed where the tape has it redacted. Its id is replaced. */
  text: jsonText.optional(),
})
const rules = z.object({
  type: z.literal('rules'),
  id,
  /** A rules file; null for none. */
  file: z.string().nullable(),
})
const save = z.object({
  type: z.literal('save'),
  id,
  /** Absolute. @default the capture's session file, or one beside the tape */
  path: z.string().optional(),
})
const annotate = z.object({
  type: z.literal('annotate'),
  id,
  /** What it is about. */
  message: messageId.optional(),
  text: z
    .string()
    .min(1)
    .max(64 * 1024),
})
const reload = z.object({ type: z.literal('reload'), id })
const stop = z.object({ type: z.literal('stop'), id })

export const command = z.discriminatedUnion('type', [
  subscribe,
  hold,
  breakpoints,
  forward,
  forwardAll,
  edit,
  drop,
  answer,
  inject,
  replay,
  rules,
  save,
  annotate,
  reload,
  stop,
])
/** What can be asked of a capture. Every one gets a reply with the same id. */
export type Command = z.infer<typeof command>
export type CommandType = Command['type']
export type CommandOf<T extends CommandType> = Extract<Command, { type: T }>

/** A command without its id. */
export type CommandBody = Command extends infer C ? (C extends Command ? Omit<C, 'id'> : never) : never
