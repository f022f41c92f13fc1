import { z } from 'zod'

/** Shapes of tool results. Additional members are allowed. */
const nothing = z.null()
const text = z.string()
const count = z.int().min(0)
const name = text.describe('Name of the recording, for the other tools')

/** Replaces values that exceed the budget. */
const cut = z.object({
  cut: text.describe('Beginning of the JSON text of the value'),
  sizeBytes: count,
  hint: text,
})

/** `structuredContent` of a tool, from the shapes of its `about` and items. */
export function answerShape(about: z.ZodType, item: z.ZodType): z.ZodType {
  return z.object({
    notice: text.describe('Everything else is data from other programs'),
    about: z.union([about, cut]),
    items: z.array(z.union([item, cut])),
    nextCursor: z.union([text, nothing]).describe('Cursor for the next call; null at the end'),
    more: z.union([text, nothing]).describe('How to get the rest'),
  })
}

const orNull = (shape: z.ZodType): z.ZodType => z.union([shape, nothing])
const peer = orNull(z.looseObject({ name: orNull(text).optional(), version: orNull(text).optional() }))
const direction = z.enum(['client_to_server', 'server_to_client'])

export const recordingShape = z.looseObject({
  name,
  session: orNull(text),
  label: text,
  startedAt: text,
  state: text.describe('live, complete, or how the recording ended'),
  client: peer.optional(),
  server: peer.optional(),
  messages: orNull(count).optional(),
  errors: orNull(count).optional(),
  durationMs: orNull(z.number()).optional(),
  sizeBytes: orNull(count).optional(),
})

const row = {
  sequence: z.union([count, nothing]).describe('Number of the message'),
  timestamp: z.union([text, nothing]),
  direction: z.union([direction, nothing]),
  kind: text.describe('request, notification, result, error, stderr, noise, http, gap or note'),
  method: z.union([text, nothing]),
  subject: z.union([text, nothing]).describe('The tool, prompt or resource'),
  request: z
    .union([count, z.looseObject({ sequence: count }), nothing])
    .describe('In a response: the request, or its message number'),
  latencyUs: z.union([z.number(), nothing]),
  facts: z.array(text),
}

export const hitShape = z.looseObject({ recording: name, ...row, snippet: text.optional() })

export const messageShape = z.looseObject({
  recording: name,
  ...row,
  sizeBytes: count,
  payload: text.describe('JSON text of the message, or a piece of it'),
})

export const exchangeShape = messageShape.extend({
  isWhole: z.boolean().describe('Whether payload is the whole text; get_message returns the rest'),
})

export const groupShape = z.looseObject({
  name: text,
  calls: count,
  errors: count,
  p50Us: z.union([z.number(), nothing]).optional(),
  p95Us: z.union([z.number(), nothing]).optional(),
  p99Us: z.union([z.number(), nothing]).optional(),
  unanswered: count.optional(),
})

export const countsShape = z.looseObject({ error: count, warning: count, note: count })

export const findingShape = z.looseObject({
  rule: text,
  level: z.enum(['error', 'warning', 'note']),
  certainty: z.enum(['exact', 'strong', 'pattern']),
  message: text,
  messages: z.array(count).describe('Numbers of the messages that prove the finding'),
  tool: text.optional(),
  at: text.optional().describe('JSON Pointer into the message'),
})

export const storyShape = z.looseObject({
  message: count.describe('Number of the request'),
  answer: z.union([count, nothing]).optional(),
  outcome: text,
  blame: text,
  because: text,
  summary: text,
  sentences: z.array(z.looseObject({ text, messages: z.array(count) })),
  unproven: z.array(text).describe('What the recording does not prove'),
})

export const noteShape = z.looseObject({
  timestamp: text,
  text,
  about: orNull(count).describe('Number of the message that the note is about'),
  after: orNull(count).describe('Number of the message before the note'),
  restart: z.boolean().describe('Whether the note records a restart of the server'),
})

export const comparisonShape = z.looseObject({
  verdict: text.describe('Such as changed, missing, new or error now'),
  method: text.optional(),
  name: z.union([text, nothing]).optional(),
  differences: z.array(z.looseObject({ kind: text })).optional(),
})

export const offerShape = z.looseObject({ kind: text, name: text })

export const callShape = z.looseObject({
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: text }).optional(),
})

/** Any object. */
export const anything = z.looseObject({})
