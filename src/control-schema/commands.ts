import { z } from 'zod'
import { direction, jsonText, messageId, role } from './values.js'

/** First line from a program that attaches. */
export const clientHello = z.object({
  type: z.literal('hello'),
  protocol: z.number().int(),
  role,
  /** Name of the program, for people. */
  name: z.string().max(200).optional(),
})
export type ClientHello = z.infer<typeof clientHello>

/** Chosen by the sender of the command; the reply repeats it. */
const id = z.number().int()
const filters = z.array(z.string().max(10_000)).max(100)

const subscribe = z.object({
  type: z.literal('subscribe'),
  id,
  /** Number of the first message wanted; `now` for live messages only. @default 0, the whole recording */
  from: z.union([z.number().int().min(0), z.literal('now')]).optional(),
})

const hold = z.object({ type: z.literal('hold'), id, on: z.boolean() })
const breakpoints = z.object({ type: z.literal('breakpoints'), id, filters })
const forward = z.object({
  type: z.literal('forward'),
  id,
  /** A held message. */
  message: messageId,
})
const forwardAll = z.object({ type: z.literal('forward-all'), id })
const edit = z.object({
  type: z.literal('edit'),
  id,
  message: messageId,
  /** Text to forward instead. */
  text: jsonText,
})
const drop = z.object({ type: z.literal('drop'), id, message: messageId })
const answer = z.object({
  type: z.literal('answer'),
  id,
  /** A held request. It does not reach the other side. */
  message: messageId,
  /** JSON text of the result or of the error; exactly one of the two. */
  result: jsonText.optional(),
  error: jsonText.optional(),
})
const inject = z.object({
  type: z.literal('inject'),
  id,
  direction,
  text: jsonText,
  /** Over HTTP: the conversation to inject into. @default the latest */
  conversation: z.string().optional(),
  /**
   * Handling of the response to an injected request. `keep` returns it to the program that injected the request, since
   * the peer never sent one; `pass` forwards it. @default keep
   */
  answer: z.enum(['keep', 'pass']).optional(),
})
const replay = z.object({
  type: z.literal('replay'),
  id,
  /** A request on the tape. */
  message: messageId,
  /** Text to send instead; required if the recorded request is redacted. Its id is replaced. */
  text: jsonText.optional(),
  /** Becomes the id and the progress token. @default a new id, no progress token */
  requestId: z.string().min(1).max(100).optional(),
})
const rules = z.object({
  type: z.literal('rules'),
  id,
  /** Path of a rules file; null for no rules. */
  file: z.string().nullable(),
})
const save = z.object({
  type: z.literal('save'),
  id,
  /** Absolute path. @default the capture's session file, or one beside the tape */
  path: z.string().optional(),
})
const annotate = z.object({
  type: z.literal('annotate'),
  id,
  /** The message that the note is about. */
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
/** Commands to a capture. Each gets a reply with the same id. */
export type Command = z.infer<typeof command>
export type CommandType = Command['type']
export type CommandOf<T extends CommandType> = Extract<Command, { type: T }>

/** A command without its id. */
export type CommandBody = Command extends infer C ? (C extends Command ? Omit<C, 'id'> : never) : never
