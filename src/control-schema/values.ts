import { z } from 'zod'

/**
 * Version of the control protocol. Raised when one side would misread the other. New members and new types of lines
 * do not raise it.
 */
export const protocolVersion = 1

/** Longest line in UTF-16 code units, and in bytes: fits a message of 64 MB with every character escaped. */
export const longestLine = 160 * 1024 * 1024

export const direction = z.enum(['client_to_server', 'server_to_client'])
export const transport = z.enum(['stdio', 'sse', 'streamable-http'])
/** UUID of a message, as on the tape. */
export const messageId = z.string().min(1).max(100)
/** Exact JSON text. Passed as text because parsing would lose numbers, member order and repeated members. */
export const jsonText = z.string().max(longestLine)

/** A `screen` decides about held messages and sees them unredacted. An `onlooker` sees the tape's content. */
export const role = z.enum(['screen', 'onlooker'])
export type Role = z.infer<typeof role>

/** Messages that a held one blocks: those of its own exchange, or (`fifo`) all later ones of its direction. */
const holdOrder = z.enum(['exchange', 'fifo'])

/** Action on held messages when the last screen detaches. */
const onDetach = z.enum(['forward', 'drop'])

export const gateState = z.object({
  /** Messages are held: those that match a breakpoint or, without breakpoints, all. */
  hold: z.boolean(),
  /** Filters, as written. */
  breakpoints: z.array(z.string()),
  order: holdOrder,
  onDetach,
  /** Held messages are forwarded automatically after this time. */
  holdTimeoutMs: z.number().nullable(),
  /** All messages are held until a screen attaches. */
  awaitsScreen: z.boolean(),
  /** Rules in force; `fault` says why a changed file was rejected. */
  rules: z.object({ file: z.string(), count: z.number().int(), fault: z.string().optional() }).nullable(),
  /** Number of messages currently held. */
  held: z.number().int(),
  /** `reload` is possible. */
  canReload: z.boolean(),
  screens: z.number().int(),
  onlookers: z.number().int(),
})
/** State of the gate: what is held, and why. */
export type GateState = z.infer<typeof gateState>

/** Why a message is held. `order`: an earlier message of its exchange (or direction) is held. */
export const holdReason = z.enum(['hold', 'breakpoint', 'rule', 'order'])

/** Outcome for a held message. */
export const releaseOutcome = z.enum(['forwarded', 'edited', 'dropped', 'answered'])
export type ReleaseOutcome = z.infer<typeof releaseOutcome>

/** Cause of the decision: a person, a rule, or an event. */
export const releaseCause = z.enum(['screen', 'rule', 'timeout', 'detach', 'passthrough', 'order', 'end'])
