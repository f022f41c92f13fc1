import { z } from 'zod'

/**
 * Version of the control protocol. Raised when what one side sends would be misread by the other; new members and new
 * types of lines do not raise it.
 */
export const protocolVersion = 1

/** Longest line in UTF-16 code units, and in bytes: a message of 64 MB with all of it escaped. */
export const longestLine = 160 * 1024 * 1024

export const direction = z.enum(['client_to_server', 'server_to_client'])
export const transport = z.enum(['stdio', 'sse', 'streamable-http'])
/** UUID of a message, as on the tape. */
export const messageId = z.string().min(1).max(100)
/** Exact JSON text. Text, because a parser would lose numbers, order and repeated members. */
export const jsonText = z.string().max(longestLine)

/** A `screen` decides about held messages and sees them as they are. An `onlooker` gets what the tape gets. */
export const role = z.enum(['screen', 'onlooker'])
export type Role = z.infer<typeof role>

/** What blocks what: a held message its own exchange, or (`fifo`) everything behind it in its direction. */
export const holdOrder = z.enum(['exchange', 'fifo'])
export type HoldOrder = z.infer<typeof holdOrder>

/** What becomes of held messages when the last screen goes. */
export const onDetach = z.enum(['forward', 'drop'])
export type OnDetach = z.infer<typeof onDetach>

export const gateState = z.object({
  /** Messages are held: those that a breakpoint matches or, without breakpoints, all. */
  hold: z.boolean(),
  /** Filters, as they were written. */
  breakpoints: z.array(z.string()),
  order: holdOrder,
  onDetach,
  /** Held messages go on by themselves after this time. */
  holdTimeoutMs: z.number().nullable(),
  /** Everything is held until a screen comes. */
  awaitsScreen: z.boolean(),
  /** Rules in force; `fault` says why a changed file was not taken. */
  rules: z.object({ file: z.string(), count: z.number().int(), fault: z.string().optional() }).nullable(),
  /** Messages that are held now. */
  held: z.number().int(),
  screens: z.number().int(),
  onlookers: z.number().int(),
})
/** What is held, and why. */
export type GateState = z.infer<typeof gateState>

/** Why a message is held. `order`: an earlier message of its exchange (or direction) is held. */
export const holdReason = z.enum(['hold', 'breakpoint', 'rule', 'order'])
export type HoldReason = z.infer<typeof holdReason>

/** What became of a held message. */
export const releaseOutcome = z.enum(['forwarded', 'edited', 'dropped', 'answered'])
export type ReleaseOutcome = z.infer<typeof releaseOutcome>

/** Who decided: a person, a rule, or what happened. */
export const releaseCause = z.enum(['screen', 'rule', 'timeout', 'detach', 'passthrough', 'order', 'end'])
export type ReleaseCause = z.infer<typeof releaseCause>
